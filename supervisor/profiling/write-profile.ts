/** The thread in which profiles are written, so that the supervisor's loop never waits for one. */
import { join } from 'node:path';
import type { Piscina } from 'piscina';
import { builtRoot } from '../../shared/process/built-root.ts';
import type { ProfileTask } from './pool-entry.ts';
import { openThreadPool } from '../../shared/process/thread-pool.ts';

/** Ends the thread, and what it has read of source maps with it. */
const THREAD_IDLE_MS = 1_000;
/** Profiles that wait for the thread; a further one fails. */
const MAX_WAITING = 16;

let pool: Piscina<ProfileTask, Uint8Array> | undefined;

export async function writeProfile(task: ProfileTask): Promise<Uint8Array> {
  pool ??= openThreadPool<ProfileTask, Uint8Array>({
    filename: join(builtRoot, 'supervisor', 'profiling', 'pool-entry.cjs'),
    minThreads: 0,
    maxThreads: 1,
    maxQueue: MAX_WAITING,
    idleTimeout: THREAD_IDLE_MS,
  });
  return await pool.run(task);
}
