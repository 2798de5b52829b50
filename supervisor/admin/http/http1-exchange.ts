/** A request and its answer over HTTP/1.1, with Envoy's headers in its order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../../shared/process/clock.ts';
import type { AdminLimits } from './admin-limits.ts';
import type { AdminExchange, AnswerFields, Refusal } from './exchange.ts';
import { refuseHead } from './refusals.ts';
import { SERVER_NAME } from './send-response.ts';

export interface Http1Parts {
  readonly clock: Clock;
  readonly limits: AdminLimits;
}

export function http1Exchange(
  request: IncomingMessage,
  response: ServerResponse,
  { clock, limits }: Http1Parts,
): AdminExchange {
  return {
    protocol: 'HTTP/1.1',
    socket: request.socket,
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers,
    input: request,
    output: response,
    refusal: () => refusalOf(request, limits),
    sendHead: (status, fields) => sendHead(response, status, fields),
    flushHead: () => response.flushHeaders(),
    sendBare: (refusal) => sendBare(response, refusal, clock),
  };
}

function refusalOf(request: IncomingMessage, limits: AdminLimits): Refusal | undefined {
  const close = true;
  if (request.httpVersion !== '1.1') return { status: 426, close, text: 'Upgrade Required' };
  if (request.rawHeaders.length / 2 > limits.headerFields) {
    return { status: 431, close, text: 'Request Header Fields Too Large' };
  }
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return { status: 501, close, text: 'Not Implemented' };
  }
  const bad = refuseHead({ method: request.method, url: request.url, host: request.headers.host });
  return bad === undefined ? undefined : { status: 400, close, text: bad };
}

function sendHead(response: ServerResponse, status: number, fields: AnswerFields): void {
  response.statusCode = status;
  response.sendDate = false;
  for (const [name, value] of fields) response.setHeader(name, value);
  // Node writes `Connection: keep-alive`, which HTTP/1.1 has by itself and Envoy leaves out.
  if (response.shouldKeepAlive) response.removeHeader('connection');
  else response.setHeader('connection', 'close');
  response.setHeader('transfer-encoding', 'chunked');
}

function sendBare(response: ServerResponse, refusal: Refusal, clock: Clock): number {
  const { text = '' } = refusal;
  const isHead = response.req.method === 'HEAD';
  response.statusCode = refusal.status;
  response.sendDate = false;
  if (text !== '') {
    response.setHeader('content-length', text.length);
    response.setHeader('content-type', 'text/plain');
  }
  response.setHeader('date', new Date(clock.wallMs()).toUTCString());
  response.setHeader('server', SERVER_NAME);
  if (refusal.close || !response.shouldKeepAlive) response.setHeader('connection', 'close');
  else response.removeHeader('connection');
  if (text === '' && isHead) response.setHeader('transfer-encoding', 'chunked');
  else if (text === '') response.setHeader('content-length', 0);
  response.end(text);
  // The unread rest of a refused body must not hold the connection.
  if (refusal.close) response.socket?.destroySoon();
  return text.length;
}
