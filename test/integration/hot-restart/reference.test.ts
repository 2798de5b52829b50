/** Sluice takes over from the reference, and the reference from Sluice, while clients go on asking. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { makeEpochs, type Epochs } from '../../support/epochs.ts';
import { fetchOnce } from '../../support/http-client.ts';
import { startLoad } from '../../support/load.ts';
import { waitUntil } from '../../support/wait.ts';

const isInstalled = spawnSync('envoy', ['--version']).status === 0;
const skip = isInstalled ? false : 'no envoy is installed here';

describe('with the reference as the other epoch', { skip }, () => {
  for (const reusePort of [true, false]) {
    it(`nothing is lost there and back again, reuse_port ${reusePort}`, async () => {
      await using epochs = await makeEpochs({
        listener: { enable_reuse_port: { value: reusePort } },
      });
      epochs.writeBootstrap();
      const oldest = startReference(epochs, 0);
      try {
        await liveEpoch(epochs, 0);
        const load = startLoad({ port: epochs.port, restMs: 1 });
        const sluice = await epochs.start(1);
        await once(oldest, 'exit');
        assert.equal(await sluice.stat('server.hot_restart_generation'), 2);
        const newest = startReference(epochs, 2, 3);
        try {
          await liveEpoch(epochs, 2);
          await generationIs(epochs, 3);
          assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
          assert.deepEqual((await load.stop()).failures, []);
        } finally {
          newest.kill('SIGKILL');
        }
      } finally {
        oldest.kill('SIGKILL');
      }
    });
  }
});

function startReference(epochs: Epochs, epoch: number, concurrency = 2): ChildProcess {
  const words = ['-c', epochs.scratch.file('bootstrap.json'), ...epochs.args(epoch)];
  const more = ['--concurrency', String(concurrency), '-l', 'off'];
  return spawn('envoy', [...words, ...more], { stdio: 'ignore' });
}

async function liveEpoch(epochs: Epochs, epoch: number): Promise<void> {
  await waitUntil(
    `epoch ${epoch} of the reference`,
    async () => {
      const ask = { port: epochs.adminPort, path: '/server_info' };
      const answer = await fetchOnce(ask).catch(() => undefined);
      if (answer?.status !== 200) return false;
      const info = JSON.parse(answer.body) as ServerInfo;
      return info.state === 'LIVE' && info.command_line_options.restart_epoch === epoch;
    },
    20_000,
  );
}

async function generationIs(epochs: Epochs, wanted: number): Promise<void> {
  const path = '/stats?filter=hot_restart_generation';
  await waitUntil(`generation ${wanted}`, async () => {
    const answer = await fetchOnce({ port: epochs.adminPort, path }).catch(() => undefined);
    return answer?.body === `server.hot_restart_generation: ${wanted}\n`;
  });
}

interface ServerInfo {
  readonly state: string;
  readonly command_line_options: { readonly restart_epoch: number };
}
