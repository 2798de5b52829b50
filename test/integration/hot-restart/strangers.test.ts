/** What processes of other users send to the hot-restart sockets changes nothing. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { endpointAddress } from '../../../supervisor/hot-restart/endpoint-names.ts';
import { cutIntoDatagrams } from '../../../supervisor/hot-restart/datagram-stream.ts';
import { encodeHotRestartMessage } from '../../../supervisor/hot-restart/hot-restart-codec.ts';
import type { HotRestartRequest } from '../../../supervisor/hot-restart/hot-restart-message.ts';
import { startStranger } from '../../support/programs/datagram-senders.ts';
import { makeEpochs, type Epochs } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import type { Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const NOBODY = 65_534;
const DEFAULT_PATH = '@envoy_domain_socket';
const skip = process.getuid?.() === 0 ? false : 'only root can become another user';

const COMMANDS: readonly HotRestartRequest[] = [
  { kind: 'stats', isSluice: false },
  { kind: 'shutdown_admin' },
  { kind: 'drain_listeners' },
  { kind: 'terminate' },
];

function hexOf(request: HotRestartRequest): readonly string[] {
  const message = encodeHotRestartMessage({ kind: 'request', request });
  return cutIntoDatagrams(message).map((datagram) => datagram.toString('hex'));
}

function meetingOf(
  epochs: Epochs,
  socketPath = DEFAULT_PATH,
): Parameters<typeof endpointAddress>[0] {
  return { baseId: epochs.baseId, socketPath };
}

function openFiles(sluice: Sluice): number {
  return readdirSync(`/proc/${sluice.pid}/fd`).length;
}

describe('commands of another user', { skip, concurrency: true }, () => {
  it('are refused, counted one by one and logged once', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    for (const role of ['parent', 'child', 'udp_parent', 'udp_child'] as const) {
      const to = endpointAddress(meetingOf(epochs), role, 0);
      await startStranger({ uid: NOBODY, to, hex: COMMANDS.flatMap(hexOf) });
    }
    const refused = 'sluice.hot_restart.foreign_datagrams';
    await first.waitForStat(refused, (value) => value === 4 * COMMANDS.length);
    assert.equal(first.stderr().match(/refused what user 65534 \(pid \d+\) sent to @/g)?.length, 1);
    assert.doesNotMatch(first.stderr(), /next epoch/);
    assert.equal((await first.admin('/ready')).status, 200);
    assert.equal((await (await epochs.start(1)).stop()).code, 0);
    assert.equal((await first.exited()).code, 0);
  });

  it('pass where the permissions of a socket in the file system let them', async () => {
    await using epochs = await makeEpochs();
    chmodSync(epochs.scratch.path, 0o755);
    const path = epochs.scratch.file('hot');
    const first = await epochs.start(0, { args: ['--socket-path', path, '--socket-mode', '666'] });
    const to = endpointAddress(meetingOf(epochs, path), 'parent', 0);
    await startStranger({ uid: NOBODY, to, hex: hexOf({ kind: 'terminate' }) });
    assert.equal((await first.exited()).code, 0);
  });

  it('and a flood of them hold neither the loop nor a hot restart', async () => {
    await using epochs = await makeEpochs();
    const first = await epochs.start(0);
    const files = openFiles(first);
    const targets = [
      endpointAddress(meetingOf(epochs), 'parent', 0),
      endpointAddress(meetingOf(epochs), 'child', 1),
    ];
    const hex = ['00'.repeat(60_000), ...hexOf({ kind: 'terminate' })];
    const flood = await Promise.all(
      targets.map(async (to) => await startStranger({ uid: NOBODY, to, hex, isFlood: true })),
    );
    try {
      const slowest = await slowestReady(first, 100);
      assert.ok(slowest < READY_LIMIT_MS, `${slowest} ms for /ready`);
      // One more for a connection of ours that it has not closed yet.
      await waitUntil('no descriptors left', () => openFiles(first) <= files + 1);
      const load = startLoad({ port: epochs.port, restMs: 24 });
      const second = await epochs.start(1);
      assert.equal((await first.exited()).code, 0);
      await waitUntil('the end of the parent', async () => {
        return (await second.stat('server.parent_connections')) === 0;
      });
      assert.deepEqual((await load.stop()).failures, []);
    } finally {
      for (const child of flood) child.kill('SIGKILL');
    }
  });
});

/** Far above what a loop takes that nobody holds, and far below one that is held. */
const READY_LIMIT_MS = 1_000;

async function slowestReady(sluice: Sluice, count: number): Promise<number> {
  let slowest = 0;
  for (let each = 0; each < count; each += 1) {
    const beginMs = performance.now();
    assert.equal((await sluice.admin('/ready')).status, 200);
    slowest = Math.max(slowest, performance.now() - beginMs);
  }
  return slowest;
}
