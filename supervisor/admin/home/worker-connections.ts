/**
 * Open connections of each worker, summed over listeners from the statistics that they have anyway.
 */
import type { Steps } from '../../loop/loop-turns.ts';
import type { AdminBody } from '../../http-pages/admin-response.ts';
import type { AdminContext } from '../admin-context.ts';
import { parseQuery } from '../../http-pages/query.ts';

const FILTER = '^listener\\..*\\.worker_[0-9]+\\.downstream_cx_active$';
const LINE = /\.worker_(\d+)\.downstream_cx_active: (\d+)$/gm;

export async function countWorkerConnections({
  stats,
  turns,
}: AdminContext): Promise<ReadonlyMap<number, number>> {
  const query = parseQuery(`filter=${encodeURIComponent(FILTER)}`);
  const { body } = await stats.read('/stats', { query, accept: '', acceptEncoding: '' });
  return await turns.run(countIn(body));
}

function* countIn(body: AdminBody): Steps<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  // A page of statistics is never made of events.
  if (typeof body === 'string' || Symbol.asyncIterator in body) return counts;
  let text = '';
  for (const piece of body) {
    if (typeof piece === 'string') text += piece;
    yield;
  }
  for (const [, worker = '', count = ''] of text.matchAll(LINE)) {
    counts.set(Number(worker), (counts.get(Number(worker)) ?? 0) + Number(count));
    yield;
  }
  return counts;
}
