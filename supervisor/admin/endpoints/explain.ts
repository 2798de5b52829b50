/** `/explain`: what would become of a request, as the workers serve it now. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { readQuestion } from '../../../shared/explain/read-question.ts';
import { renderExplanation } from '../../../shared/explain/render-explanation.ts';
import { errorText } from '../../../shared/text/error-text.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { oneOf, several, text, words } from '../../http-pages/params.ts';
import type { AdminContext } from '../admin-context.ts';
import type { RequestOf } from '../admin-route.ts';
import { jsonResponse, textResponse } from '../http/responses.ts';

export const EXPLAIN_PARAMS = {
  url: text('http://host/path, or /path with a header host'),
  method: text('GET by default'),
  header: several('name: value; may be given several times', (given) => given),
  client: text("The client's IP address, 127.0.0.1 by default"),
  listener: text('Name of the listener'),
  to: text('Where the client connects to: address:port or port'),
  server_name: text('What a TLS client calls the server; the host of the url by default'),
  alpn: text('Protocols of a TLS client, separated by commas'),
  format: oneOf({
    help: 'Text for people, or JSON',
    values: words('text', 'json'),
    byDefault: 'text',
  }),
};

export async function answerExplain(
  { params }: RequestOf<typeof EXPLAIN_PARAMS>,
  context: AdminContext,
): Promise<AdminResponse> {
  const { url, header: headers, server_name: serverName, format, ...rest } = params;
  if (url === undefined) return textResponse('url=http://host/path is missing\n', 400);
  const asked = readQuestion({ ...rest, url, headers, serverName });
  if (typeof asked === 'string') return textResponse(`${asked}\n`, 400);
  try {
    const explanation = await context.explain(asked);
    if (format === 'json') return jsonResponse(explanation as unknown as JsonObject);
    return textResponse(renderExplanation(explanation));
  } catch (error) {
    return textResponse(`no worker answers: ${errorText(error)}\n`, 503);
  }
}
