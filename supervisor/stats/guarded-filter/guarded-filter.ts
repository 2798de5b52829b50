/**
 * Filters by expressions that may take more than linear time (look-around, back-references): a
 * thread matches the names, and is ended when it takes too long, so that the supervisor's loop
 * never waits.
 */
import { join } from 'node:path';
import type { Piscina } from 'piscina';
import { builtRoot } from '../../../shared/process/built-root.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { GuardedTask } from './pool-entry.ts';
import { openThreadPool } from '../../../shared/process/thread-pool.ts';

/** Matching time for this many names; the thread's start is not counted. */
const LIMIT_MS = 100;
const NAMES_PER_TASK = 10_000;
const IDLE_MS = 1000;
/** What the thread's start and the first task may take on a busy machine. */
const START_LIMIT_MS = 5000;

let pool: Piscina<GuardedTask, Uint8Array> | undefined;

/** Resolves with the names that match; undefined when that takes too long. */
export async function matchGuarded(
  pattern: string,
  names: readonly string[],
  clock: Clock,
): Promise<ReadonlySet<string> | undefined> {
  // The thread is there before time is taken.
  if ((await run({ pattern, names: [] }, START_LIMIT_MS, clock)) === undefined) return undefined;
  const accepted = new Set<string>();
  for (let from = 0; from < names.length; from += NAMES_PER_TASK) {
    const some = names.slice(from, from + NAMES_PER_TASK);
    const matches = await run({ pattern, names: some }, LIMIT_MS, clock);
    if (matches === undefined) return undefined;
    some.forEach((name, position) => {
      if (matches[position] === 1) accepted.add(name);
    });
  }
  return accepted;
}

async function run(
  task: GuardedTask,
  limitMs: number,
  clock: Clock,
): Promise<Uint8Array | undefined> {
  pool ??= openThreadPool<GuardedTask, Uint8Array>({
    filename: join(builtRoot, 'supervisor', 'stats', 'guarded-filter', 'pool-entry.cjs'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
  });
  const abort = new AbortController();
  const limit = clock.after(limitMs, () => abort.abort());
  try {
    // Aborting ends the thread.
    return await pool.run(task, { signal: abort.signal });
  } catch (error) {
    if (abort.signal.aborted) return undefined;
    throw error;
  } finally {
    limit.cancel();
  }
}
