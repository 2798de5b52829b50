/** The thread in which pages of modules are made; it is ended when one takes too long or too much. */
import { join } from 'node:path';
import type { Piscina } from 'piscina';
import { builtRoot } from '../../shared/process/built-root.ts';
import { RUN_MODULE_FLAGS } from '../../shared/scripts/run-flags.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { PageReply, PageTask } from './answer-page.ts';
import { openThreadPool } from '../../shared/process/thread-pool.ts';

/** Beyond a page's own time, for the thread's start. */
const THREAD_START_MS = 2_000;
/** Pages that wait for the one thread. */
const WAITING_MAX = 64;
const THREAD_IDLE_MS = 60_000;
/** The limit of the thread, which ends when it has more. */
const HEAP_MIB_MAX = 128;

let pool: Piscina<PageTask, PageReply> | undefined;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/** One after the other: the time of a page begins when the one before it has ended. */
export async function makePage(task: PageTask, timeoutMs: number): Promise<PageReply> {
  if (waiting >= WAITING_MAX) return { fault: 'too many pages wait' };
  waiting++;
  const made = last.then(async () => await makeNow(task, timeoutMs));
  last = made;
  const reply = await made;
  waiting--;
  return reply;
}

/** Never rejects. */
async function makeNow(task: PageTask, timeoutMs: number): Promise<PageReply> {
  pool ??= openThreadPool<PageTask, PageReply>({
    filename: join(builtRoot, 'supervisor', 'scripts', 'pool-entry.cjs'),
    execArgv: [...RUN_MODULE_FLAGS],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB_MAX },
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: THREAD_IDLE_MS,
  });
  const limit = AbortSignal.timeout(timeoutMs + THREAD_START_MS);
  try {
    return await pool.run(task, { signal: limit });
  } catch (error) {
    if (limit.aborted) return { fault: `it took longer than ${timeoutMs} ms` };
    return { fault: errorText(error) };
  }
}
