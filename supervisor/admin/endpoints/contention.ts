/**
 * `/contention`: envoy.admin.v3.MutexStats with `--enable-mutex-tracing`. Its cycles are nanoseconds
 * here, and its contentions the supervisor's waits for replies of its workers and for the thread
 * that matches filters.
 */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { jsonResponse, textResponse } from '../http/responses.ts';

export function answerContention(context: AdminContext): AdminResponse {
  const counts = context.server.contention();
  if (counts === undefined) {
    return textResponse(
      'Mutex contention tracing is not enabled. To enable, run Sluice with flag --enable-mutex-tracing.',
    );
  }
  return jsonResponse({
    num_contentions: String(counts.waits),
    current_wait_cycles: String(counts.lastWaitNs),
    lifetime_wait_cycles: String(counts.allWaitsNs),
  });
}
