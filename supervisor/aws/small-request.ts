/** One short HTTP request to a service that gives credentials; the answer is bounded in time and size. */
import { request as plainRequest, type OutgoingHttpHeaders } from 'node:http';
import { request as tlsRequest } from 'node:https';

const TIMEOUT_MS = 5000;
const ANSWER_BYTES_MAX = 256 * 1024;

export interface SmallRequest {
  readonly url: string;
  readonly method?: 'GET' | 'PUT' | 'POST';
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** The body of an answer with status 200 or 201; rejects in every other case. */
export async function askService(request: SmallRequest, signal: AbortSignal): Promise<string> {
  const { url, method = 'GET', headers = {}, body } = request;
  const send = url.startsWith('https:') ? tlsRequest : plainRequest;
  const timed = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return await new Promise((resolve, reject) => {
    // Connections are not kept: the next request is an hour away.
    const sent = send(url, { method, headers, signal: timed, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too large'));
        else pieces.push(piece);
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 0 } = answer;
        if (statusCode === 200 || statusCode === 201) resolve(Buffer.concat(pieces).toString());
        else reject(new Error(`${method} ${new URL(url).host} was answered with ${statusCode}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
