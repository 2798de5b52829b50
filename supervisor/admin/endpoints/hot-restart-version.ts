/** `/hot_restart_version`: what `--hot-restart-version` prints, without a line feed. */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { textResponse } from '../http/responses.ts';

export function answerHotRestartVersion(context: AdminContext): AdminResponse {
  return textResponse(context.server.hotRestartVersion);
}
