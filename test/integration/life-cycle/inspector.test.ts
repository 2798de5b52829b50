/** Node opens its inspector on SIGUSR1; a server that is told to reopen its logs must not. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import { catchesSignal, childrenOf, listeningPorts } from '../../support/programs/processes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { MAIN } from '../../support/programs/sluice.ts';
import { waitUntil, within } from '../../support/wait.ts';

describe('SIGUSR1 during the start', () => {
  for (const delayMs of [0, 20, 40, 80, 160]) {
    it(`leaves no inspector port open, ${delayMs} ms after Node's own handler is there`, async () => {
      using scratch = makeScratch();
      const path = scratch.file('bootstrap.json');
      writeFileSync(path, JSON.stringify(bootstrap({})));
      const words = ['-c', path, '--disable-hot-restart', '--concurrency', '2'];
      // A group of its own: the signal must reach the workers too, from their first moment on.
      const child = spawn(process.execPath, [MAIN, ...words], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      const { pid } = child;
      assert.ok(pid !== undefined);
      let log = '';
      child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
      try {
        // Before that nothing can be done: the signal's default action ends a process.
        await waitUntil("Node's handler", () => catchesSignal(pid, constants.signals.SIGUSR1));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        process.kill(-pid, 'SIGUSR1');
        await waitUntil('the start', () => log.includes('starting main dispatch loop'));
        const workers = childrenOf(pid);
        assert.equal(workers.length, 2);
        // The admin's port is the only one; 9229 would be the inspector's.
        assert.equal(listeningPorts(pid).length, 1);
        assert.ok(!listeningPorts(pid).includes(9229));
        for (const worker of workers) assert.deepEqual(listeningPorts(worker), []);
      } finally {
        const closed = once(child, 'close');
        process.kill(-pid, 'SIGTERM');
        await within('the end', closed).catch(() => process.kill(-pid, 'SIGKILL'));
      }
    });
  }
});
