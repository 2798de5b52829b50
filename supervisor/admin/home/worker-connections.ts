/** Open connections of each worker, summed over listeners from the statistics that they have anyway. */
import type { AdminContext } from '../admin-context.ts';
import { parseQuery } from '../http/query.ts';

const FILTER = '^listener\\..*\\.worker_[0-9]+\\.downstream_cx_active$';
const LINE = /\.worker_(\d+)\.downstream_cx_active: (\d+)$/gm;

export async function countWorkerConnections({
  stats,
}: AdminContext): Promise<ReadonlyMap<number, number>> {
  const query = parseQuery(`filter=${encodeURIComponent(FILTER)}`);
  const { body } = await stats.read('/stats', { query, accept: '', acceptEncoding: '' });
  const counts = new Map<number, number>();
  for (const [, worker = '', count = ''] of (await textOf(body)).matchAll(LINE)) {
    counts.set(Number(worker), (counts.get(Number(worker)) ?? 0) + Number(count));
  }
  return counts;
}

async function textOf(body: Awaited<ReturnType<AdminContext['stats']['read']>>['body']) {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('latin1');
  let text = '';
  for await (const piece of body) {
    text += typeof piece === 'string' ? piece : Buffer.from(piece).toString('latin1');
  }
  return text;
}
