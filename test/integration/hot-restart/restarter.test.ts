/** `sluice-restarter` around the epochs of one server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { makeEpochs, okBootstrap, type Epochs } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import { isAlive } from '../../support/programs/processes.ts';
import {
  restarterStatus,
  type RunningRestarter,
  startRestarter,
} from '../../support/programs/restarter.ts';
import { waitUntil } from '../../support/wait.ts';

// They wait for limits, so they wait together.
describe('sluice-restarter', { concurrency: true }, () => {
  it('restarts on SIGHUP, keeps the old epoch when the new one is bad, ends when it crashes', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = startRestarter(epochs);
    await restarter.saw('epoch 0 is live');
    const load = startLoad({ port: epochs.port, restMs: 24 });
    restarter.process.kill('SIGHUP');
    await restarter.saw('epoch 1 is live');
    assert.deepEqual(await liveNumbers(epochs), [1]);

    writeFileSync(epochs.scratch.file('bootstrap.json'), 'bad: [');
    restarter.process.kill('SIGHUP');
    await restarter.saw('epoch 1 serves on');
    // A third epoch ends the first at once, whatever it still serves: let it end by itself.
    await waitUntil('the end of epoch 0', async () =>
      (await restarterStatus(epochs)).every(({ number }) => number !== 0),
    );

    const good = JSON.stringify(okBootstrap(epochs.port, epochs.adminPort));
    writeFileSync(epochs.scratch.file('bootstrap.json'), good);
    restarter.process.kill('SIGHUP');
    await restarter.saw('epoch 2 is live');
    assert.deepEqual((await load.stop()).failures, []);

    const live = (await restarterStatus(epochs)).find(({ state }) => state === 'live');
    process.kill(live?.pid ?? 0, 'SIGKILL');
    assert.deepEqual(await once(restarter.process, 'exit'), [137, null]);
  });

  it('ends all epochs with SIGTERM and code 0', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = startRestarter(epochs);
    await restarter.saw('epoch 0 is live');
    restarter.process.kill('SIGTERM');
    assert.deepEqual(await once(restarter.process, 'exit'), [0, null]);
  });

  it('ends an epoch that hangs while it starts, refuses another SIGHUP meanwhile', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = await startInTime(epochs, 6);
    const load = startLoad({ port: epochs.port, restMs: 24 });
    restarter.process.kill('SIGHUP');
    const starting = await waitUntil('epoch 1', async () =>
      (await restarterStatus(epochs)).find(({ number }) => number === 1),
    );
    process.kill(starting.pid, 'SIGSTOP');
    restarter.process.kill('SIGHUP');
    await restarter.saw(`hot restart refused: epoch 1 (pid ${starting.pid}) is still starting`);
    await restarter.saw('epoch 1 did not become live in time');
    await restarter.saw('epoch 0 serves on');
    assert.deepEqual((await load.stop()).failures, []);
  });

  it('that is killed leaves no epoch behind for ever', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = startRestarter(epochs);
    await restarter.saw('epoch 0 is live');
    const [epoch] = await restarterStatus(epochs);
    restarter.process.kill('SIGKILL');
    await waitUntil('the end of the epoch', () => !isAlive(epoch?.pid ?? 0));
    await restarter.saw('sluice-restarter is gone; draining before the end');
  });
});

/** On a busy machine the first epoch may miss the limit: then there is another restarter. */
async function startInTime(epochs: Epochs, limitS: number): Promise<RunningRestarter> {
  return await waitUntil(
    'a start in time',
    async () => {
      const restarter = startRestarter(epochs, { words: ['--start-timeout-s', String(limitS)] });
      const isLive = (): boolean => restarter.log().includes('epoch 0 is live');
      await waitUntil('a start', () => isLive() || restarter.process.exitCode !== null, 60_000);
      return isLive() && restarter;
    },
    120_000,
  );
}

async function liveNumbers(epochs: Epochs): Promise<readonly number[]> {
  return (await restarterStatus(epochs))
    .filter(({ state }) => state === 'live')
    .map(({ number }) => number);
}
