/**
 * A parent that is killed while its child starts leaves a child that serves, or that says why not.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { CHILD_PHASES, seen, spawnChild } from '../../support/programs/child-epoch.ts';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { waitUntil } from '../../support/wait.ts';

// One after the other: twelve servers at once miss the limits of a busy machine.
describe('a parent that is killed', () => {
  for (const { phase, line } of CHILD_PHASES) {
    it(`when ${phase}, has a child that goes on alone`, async () => {
      await using epochs = await makeEpochs({ parentShutdownTime: 600 });
      const first = await epochs.start(0);
      const child = spawnChild(epochs);
      try {
        await seen(child, line);
        first.process.kill('SIGKILL');
        await first.exited();
        await waitUntil('the child', async () => {
          // It had not asked its parent for anything yet.
          if (child.log().includes('cannot start epoch 1: no epoch 0')) return true;
          if (child.process.exitCode !== null) throw new Error(child.log());
          const answer = await fetchOnce({ port: epochs.port }).catch(() => undefined);
          return child.log().includes('starting main dispatch loop') && answer?.status === 200;
        });
      } finally {
        if (child.process.exitCode === null) {
          child.process.kill('SIGTERM');
          await once(child.process, 'exit');
        }
      }
      assert.doesNotMatch(child.log(), /Error: |\[critical\]\[main\] (?!.*cannot start epoch)/);
    });
  }
});
