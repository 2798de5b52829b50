/** `/ready`: the state of the server as text; 200 only when it is LIVE. */
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { textResponse } from '../http/responses.ts';

export function answerReady(context: AdminContext): AdminResponse {
  const state = context.server.state();
  return textResponse(`${state}\n`, state === 'LIVE' ? 200 : 503);
}
