/** A server that is told to end while it starts ends cleanly, at any moment of the start. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { makeScratch } from '../../support/scratch.ts';
import { MAIN } from '../../support/programs/sluice.ts';
import { waitUntil, within } from '../../support/wait.ts';

const config = bootstrap({
  listeners: [httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }])],
});

describe('SIGTERM during the start', { concurrency: 2 }, () => {
  for (const delayMs of [0, 25, 50, 100, 150, 200, 300]) {
    it(`ends everything with code 0, ${delayMs} ms after the first line of the log`, async () => {
      using scratch = makeScratch();
      const path = scratch.file('bootstrap.json');
      writeFileSync(path, JSON.stringify(config));
      const words = ['-c', path, '--disable-hot-restart', '--concurrency', '2'];
      const child = spawn(process.execPath, [MAIN, ...words], {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      const { pid } = child;
      assert.ok(pid !== undefined);
      let log = '';
      child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
      const closed = once(child, 'close');
      try {
        await waitUntil('the first line', () => log.includes('initializing epoch'));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        process.kill(-pid, 'SIGTERM');
        // Closed means that no worker holds standard error any more either.
        assert.deepEqual(await within('the end', closed), [0, null], log);
        assert.doesNotMatch(log, /critical|\n {4}at /);
      } finally {
        child.kill('SIGKILL');
      }
    });
  }
});
