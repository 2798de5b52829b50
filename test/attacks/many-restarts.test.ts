/** Hot restarts one right after the other leave nothing behind that grows. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { sharedMemoryName } from '../../supervisor/hot-restart/endpoint-names.ts';
import { attackTurns } from '../support/attack.ts';
import { makeEpochs } from '../support/programs/epochs.ts';
import { startLoad } from '../support/peers/load.ts';
import { isAlive } from '../support/programs/processes.ts';
import { restarterStatus, startRestarter } from '../support/programs/restarter.ts';
import { waitUntil } from '../support/wait.ts';

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Hot-restart sockets of any epoch with this base id. */
function socketsOf(baseId: number): number {
  const name = new RegExp(`_domain_socket_(udp_)?(parent|child)_${baseId}[0-2]@*$`);
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .filter((line) => name.test(line)).length;
}

describe('a restarter that is told to restart again and again', () => {
  it('keeps its descriptors, its epochs theirs, and all sockets and memory go with the last', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = startRestarter(epochs);
    const { pid: restarterPid = 0 } = restarter.process;
    await restarter.saw('epoch 0 is live');
    const [first] = await restarterStatus(epochs);
    assert.ok(first !== undefined);
    const before = { own: openFiles(restarterPid), epoch: openFiles(first.pid) };
    const load = startLoad({ port: epochs.port, restMs: 20 });
    const pids = new Set([first.pid]);
    let last = 0;
    for (const turn of attackTurns(2, 60)) {
      last = turn + 1;
      restarter.process.kill('SIGHUP');
      await restarter.saw(`epoch ${last} is live`);
      for (const { pid } of await restarterStatus(epochs)) pids.add(pid);
    }
    assert.deepEqual(
      (await load.stop()).failures.filter((text) => !isCut(text)),
      [],
    );
    const status = await waitUntil('one epoch', async () => {
      const running = await restarterStatus(epochs);
      return running.length === 1 && running;
    });
    const { pid = 0, number } = status[0] ?? {};
    assert.equal(number, last);
    await waitUntil('as many descriptors', () => openFiles(restarterPid) <= before.own + 1);
    await waitUntil('as many in the epoch', () => openFiles(pid) <= before.epoch + 2);
    assert.equal(socketsOf(epochs.baseId), 4);
    restarter.process.kill('SIGTERM');
    assert.deepEqual(await once(restarter.process, 'exit'), [0, null]);
    assert.deepEqual([...pids].filter(isAlive), []);
    assert.equal(socketsOf(epochs.baseId), 0);
    assert.ok(!existsSync(`/dev/shm${sharedMemoryName(epochs.baseId)}`));
  });
});

/** A third epoch ends the first at once, with the connections that it has still open. */
function isCut(text: string): boolean {
  return /on a kept connection|socket hang up|ECONNRESET/.test(text);
}
