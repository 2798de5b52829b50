/** How many connections each listener has, over all workers. */
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';

/** A worker whose loop is stuck must not hold up a drain's decisions for longer. */
const ANSWER_LIMIT_MS = 1_000;

export interface Census {
  /** False when a worker did not answer: it may have connections, too. */
  readonly isComplete: boolean;
  of(listener: string): ListenerConnections;
}

/** Never rejects. */
export async function takeCensus(pool: Pick<WorkerPool, 'countConnections'>): Promise<Census> {
  const answers = await pool.countConnections(ANSWER_LIMIT_MS);
  const known = answers.flatMap((answer) => answer ?? []);
  return {
    isComplete: answers.every((answer) => answer !== undefined),
    of: (listener) => sumOf(listener, known),
  };
}

/** A removed listener and its successor may have the same name. */
function sumOf(name: string, counts: readonly ListenerConnections[]): ListenerConnections {
  let open = 0;
  let idle = 0;
  let streams = 0;
  for (const count of counts) {
    if (count.name !== name) continue;
    open += count.open;
    idle += count.idle;
    streams += count.streams;
  }
  return { name, open, idle, streams };
}
