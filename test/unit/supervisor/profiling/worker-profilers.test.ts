/** Profiles of workers come back through files that do not stay. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeWorkerProfilers } from '../../../../supervisor/profiling/worker-profilers.ts';

test('each worker that obeys gives its profile, and the files are removed', async () => {
  const commands: string[] = [];
  let folder = '';
  const profilers = makeWorkerProfilers({
    profile: async (command, pathOf) => {
      commands.push(command);
      for (const index of [0, 2]) {
        if (pathOf(index) === '') continue;
        folder = dirname(pathOf(index));
        writeFileSync(pathOf(index), JSON.stringify({ startTime: index }));
      }
      return await Promise.resolve([0, 2]);
    },
  });
  await profilers.startCpu();
  const profiles = await profilers.stopCpu();
  assert.deepEqual(commands, ['start_cpu', 'stop_cpu']);
  assert.deepEqual(profiles.files, [
    { process: 'worker 0', path: join(folder, 'worker-0.json') },
    { process: 'worker 2', path: join(folder, 'worker-2.json') },
  ]);
  assert.equal(existsSync(join(folder, 'worker-2.json')), true);
  await profiles[Symbol.asyncDispose]();
  assert.equal(existsSync(folder), false);
});

test('nothing stays where no worker gives a profile', async () => {
  let folder = '';
  const profilers = makeWorkerProfilers({
    profile: async (_, pathOf) => {
      folder = dirname(pathOf(0));
      return await Promise.reject(new Error('no worker'));
    },
  });
  await assert.rejects(profilers.readHeap(), /no worker/);
  assert.ok(folder !== '' && !existsSync(folder));
});
