/** Pools of threads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openThreadPool } from '../../../../shared/process/thread-pool.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { writeFileSync } from 'node:fs';

/** Throws out of the task when the task has been given up. */
const THREAD =
  'module.exports = () => new Promise(() => setImmediate(() => { throw new Error("late"); }));';

describe('a pool of threads', () => {
  it('goes on when a thread fails whose task was given up', async () => {
    using scratch = makeScratch();
    const filename = scratch.file('thread.cjs');
    writeFileSync(filename, THREAD);
    const pool = openThreadPool<number, number>({ filename, maxThreads: 1 });
    pool.emit('error', new Error('of a thread without a task'));
    await assert.rejects(pool.run(1), /late/);
    await assert.rejects(pool.run(2), /late/);
    await pool.destroy();
  });
});
