/** `/memory/tcmalloc`: there is no TCMalloc here; V8's own table of its heap spaces instead. */
import { getHeapSpaceStatistics } from 'node:v8';
import type { AdminResponse } from '../../http-pages/admin-response.ts';

export function answerHeapSpaces(): AdminResponse {
  const rows = getHeapSpaceStatistics().map(
    (space) =>
      `${space.space_name}: ${space.space_used_size} bytes in use of ${space.space_size}, ` +
      `${space.space_available_size} available\n`,
  );
  const body = `Memory is managed by V8, not by TCMalloc. Heap spaces:\n${rows.join('')}`;
  return { status: 200, contentType: 'text/plain', body };
}
