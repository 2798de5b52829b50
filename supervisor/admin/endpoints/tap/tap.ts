/** `/tap`: begins to record requests for this client, until it goes. One client at a time. */
import type { AdminContext } from '../../admin-context.ts';
import type { AdminResponse } from '../../../http-pages/admin-response.ts';
import type { EndpointRequest } from '../../admin-route.ts';
import { textResponse } from '../../http/responses.ts';

export async function answerTap(
  { body }: EndpointRequest,
  { tap }: AdminContext,
): Promise<AdminResponse> {
  const attached = textResponse('An attached /tap admin stream already exists. Detach it.', 400);
  if (tap.isAttached()) return attached;
  if (body === '') return textResponse('/tap requires a JSON/YAML body', 400);
  const request = await tap.read(Buffer.from(body, 'latin1'));
  if (typeof request === 'string') return textResponse(request, 400);
  if (!tap.configIds().has(request.configId)) {
    return textResponse(
      `Unknown config id '${request.configId}'. No extension has registered with this id.`,
      400,
    );
  }
  if (tap.isAttached()) return attached;
  return { ...textResponse(tap.begin(request)), isEndless: true };
}
