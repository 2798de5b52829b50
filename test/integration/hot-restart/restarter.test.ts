/** `sluice-restarter` around the epochs of one server. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeEpochs, okBootstrap, type Epochs } from '../../support/epochs.ts';
import { startLoad } from '../../support/load.ts';
import { waitUntil } from '../../support/wait.ts';

const RESTARTER = join(import.meta.dirname, '..', '..', '..', 'src', 'restarter-main.js');

describe('sluice-restarter', () => {
  it('restarts on SIGHUP, keeps the old epoch when the new one is bad, ends when it crashes', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const restarter = startRestarter(epochs);
    try {
      await saw(restarter, 'epoch 0 is live');
      const load = startLoad({ port: epochs.port, restMs: 1 });
      restarter.process.kill('SIGHUP');
      await saw(restarter, 'epoch 1 is live');
      assert.deepEqual(liveNumbers(epochs), [1]);

      writeFileSync(epochs.scratch.file('bootstrap.json'), 'bad: [');
      restarter.process.kill('SIGHUP');
      await saw(restarter, 'epoch 1 serves on');
      // A third epoch ends the first at once, whatever it still serves: let it end by itself.
      await waitUntil('the end of epoch 0', () =>
        status(epochs).epochs.every(({ number }) => number !== 0),
      );

      const good = JSON.stringify(okBootstrap(epochs.port, epochs.adminPort));
      writeFileSync(epochs.scratch.file('bootstrap.json'), good);
      restarter.process.kill('SIGHUP');
      await saw(restarter, 'epoch 2 is live');
      assert.deepEqual((await load.stop()).failures, []);

      const live = status(epochs).epochs.find(({ state }) => state === 'live');
      process.kill(live?.pid ?? 0, 'SIGKILL');
      assert.deepEqual(await once(restarter.process, 'exit'), [137, null]);
    } finally {
      await endAll(restarter);
    }
  });

  it('ends all epochs with SIGTERM and code 0', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const restarter = startRestarter(epochs);
    try {
      await saw(restarter, 'epoch 0 is live');
      restarter.process.kill('SIGTERM');
      assert.deepEqual(await once(restarter.process, 'exit'), [0, null]);
    } finally {
      await endAll(restarter);
    }
  });
});

interface RunningRestarter {
  readonly process: ChildProcess;
  log(): string;
}

function startRestarter(epochs: Epochs): RunningRestarter {
  const words = [
    `--config-path=${epochs.scratch.file('bootstrap.json')}`,
    `--base-id=${epochs.baseId}`,
    '--parent-shutdown-time-s=2',
    '--drain-time-s=1',
    '--concurrency=1',
  ];
  const child = spawn(process.execPath, [RESTARTER, ...words, '-l', 'warning'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { process: child, log: () => text };
}

async function saw(restarter: RunningRestarter, line: string): Promise<void> {
  await waitUntil(`"${line}" in ${restarter.log()}`, () => restarter.log().includes(line), 20_000);
}

/** Asked first, since a killed restarter would leave its epochs behind. */
async function endAll({ process: child }: RunningRestarter): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

interface RestarterStatus {
  readonly epochs: readonly {
    readonly number: number;
    readonly pid: number;
    readonly state: string;
  }[];
}

function status(epochs: Epochs): RestarterStatus {
  const words = [RESTARTER, 'status', '--base-id', String(epochs.baseId)];
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return JSON.parse(stdout) as RestarterStatus;
}

function liveNumbers(epochs: Epochs): readonly number[] {
  return status(epochs)
    .epochs.filter(({ state }) => state === 'live')
    .map(({ number }) => number);
}
