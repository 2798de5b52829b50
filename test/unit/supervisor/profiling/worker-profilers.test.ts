/** Profiles of workers come back through files that do not stay. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
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
  assert.deepEqual(profiles, [
    { process: 'worker 0', profile: { startTime: 0 } },
    { process: 'worker 2', profile: { startTime: 2 } },
  ]);
  assert.ok(folder !== '' && !existsSync(folder));
});
