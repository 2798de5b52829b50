/**
 * `/contention`. Without `--enable-mutex-tracing` the reference's text. What would be traced here
 * (waits of the event loop for a reply of a worker) is not, so the counts are absent, not zero.
 */
import type { AdminContext, AdminResponse } from '../admin-context.ts';
import { textResponse } from '../http/responses.ts';

export function answerContention(context: AdminContext): AdminResponse {
  if (!context.server.mutexTracing) {
    return textResponse(
      'Mutex contention tracing is not enabled. To enable, run Sluice with flag --enable-mutex-tracing.',
    );
  }
  return textResponse('This build does not trace contention.', 501);
}
