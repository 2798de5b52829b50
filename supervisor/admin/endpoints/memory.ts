/**
 * `/memory`: envoy.admin.v3.Memory of the supervisor. The fields are those of Envoy's
 * allocator; here they say what V8 and the operating system know of the same things.
 */
import { getHeapStatistics } from 'node:v8';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { jsonResponse } from '../http/responses.ts';

export function answerMemory(): AdminResponse {
  const heap = getHeapStatistics();
  const usage = process.memoryUsage();
  return jsonResponse({
    allocated: String(usage.heapUsed + usage.external),
    heap_size: String(usage.heapTotal + usage.external),
    pageheap_unmapped: '0',
    pageheap_free: String(Math.max(0, usage.heapTotal - usage.heapUsed)),
    total_thread_cache: String(heap.malloced_memory),
    total_physical_bytes: String(usage.rss),
  });
}
