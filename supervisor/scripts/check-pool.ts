/** The thread in which modules are checked. It is ended when one takes too long. */
import { join } from 'node:path';
import type { Piscina } from 'piscina';
import { builtRoot } from '../../shared/process/built-root.ts';
import { errorText } from '../../shared/text/error-text.ts';
import { RUN_MODULE_FLAGS } from '../../shared/scripts/run-flags.ts';
import type { CheckReply, CheckTask } from './pool-entry.ts';
import { openThreadPool } from '../../shared/process/thread-pool.ts';

/** Beyond the module's own time, for the thread's start. */
const THREAD_START_MS = 5_000;
const THREAD_IDLE_MS = 1_000;

let pool: Piscina<CheckTask, CheckReply> | undefined;

export async function checkInPool(task: CheckTask): Promise<CheckReply> {
  pool ??= openThreadPool<CheckTask, CheckReply>({
    filename: join(builtRoot, 'supervisor', 'scripts', 'pool-entry.cjs'),
    execArgv: [...RUN_MODULE_FLAGS],
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: THREAD_IDLE_MS,
  });
  const limit = AbortSignal.timeout(task.timeoutMs + THREAD_START_MS);
  try {
    return await pool.run(task, { signal: limit });
  } catch (error) {
    if (limit.aborted) return { fault: `it was not loaded within ${task.timeoutMs} ms` };
    return { fault: errorText(error) };
  }
}
