/**
 * Answers to what is no acceptable HTTP/1.1 request, as Envoy's codec gives them: written
 * to the socket itself, since node's parser has given the connection up by then.
 */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../../shared/process/clock.ts';
import { SERVER_NAME } from './send-response.ts';

/** What node's parser says of a request that it gave up. */
export interface ParserError {
  readonly code?: string;
  readonly reason?: string;
}

/** The status for an error of node's parser, or undefined when there is nobody to answer. */
export function statusOfParserError(error: ParserError): number | undefined {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ETIMEDOUT':
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_INVALID_VERSION':
      // The same code stands for bytes behind the version, or in place of it.
      return error.reason === 'Invalid HTTP version' ? 426 : 400;
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // The same code stands for a length beside chunks, which is an attack, not a missing feature.
      return error.reason?.includes('Content-Length') === true ? 400 : 501;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    default:
      return 400;
  }
}

/** A whole answer that ends the connection; the body is the status's own text. */
export function renderRefusal(status: number, clock: Clock): string {
  const reason = STATUS_CODES[status] ?? '';
  return (
    `HTTP/1.1 ${status} ${reason}\r\n` +
    `content-length: ${reason.length}\r\ncontent-type: text/plain\r\n` +
    `date: ${new Date(clock.wallMs()).toUTCString()}\r\nserver: ${SERVER_NAME}\r\n` +
    `connection: close\r\n\r\n${reason}`
  );
}

/** What RFC 3986 allows in an authority, without user information. */
const AUTHORITY = /^[A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]*$/;
/** Methods that node's parser knows and Envoy's does not. */
const UNKNOWN_METHODS: ReadonlyMap<string | undefined, string> = new Map([
  ['M-SEARCH', 'Bad Request'],
  ['QUERY', ''],
]);

interface RefusedHead {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly host: string | undefined;
}

/** The body of a 400 where node's parser takes a request that Envoy refuses. */
export function refuseHead({ method, url = '', host }: RefusedHead): string | undefined {
  if (host === undefined) return '';
  const unknown = UNKNOWN_METHODS.get(method);
  if (unknown !== undefined) return unknown;
  if (!AUTHORITY.test(host) || /[^\x21-\x7e]/.test(url)) return 'Bad Request';
  const [path = ''] = url.split('?', 1);
  return url.includes('#') || path.includes('%00') ? '' : undefined;
}
