/** How the end of a response's body is told to an HTTP/1 client (RFC 9112 section 6). */
import type { HeaderMap } from '../stream/header-map.ts';
import { CHUNKED_LINE, EMPTY_BODY_LINE } from './serialise.ts';

export interface ResponseFraming {
  /** What is to be written beside the headers of the map. */
  readonly line: string;
  readonly isChunked: boolean;
  /** Nothing of the body that the response says it has is written. */
  readonly isBodiless: boolean;
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection: boolean;
}

/** The length is in the headers, or, behind an upgrade, there is no end to tell. */
export const AS_IT_STANDS: ResponseFraming = {
  line: '',
  isChunked: false,
  isBodiless: false,
  endsWithConnection: false,
};
const BODILESS: ResponseFraming = { ...AS_IT_STANDS, isBodiless: true };
const EMPTY_BODY: ResponseFraming = { ...AS_IT_STANDS, line: EMPTY_BODY_LINE };
const CHUNKED: ResponseFraming = { ...AS_IT_STANDS, line: CHUNKED_LINE, isChunked: true };
/** The answer to HEAD says how it would have been framed. */
const CHUNKED_HEAD: ResponseFraming = { ...BODILESS, line: CHUNKED_LINE };
const UNTIL_CLOSE: ResponseFraming = { ...AS_IT_STANDS, endsWithConnection: true };
const UNTIL_CLOSE_HEAD: ResponseFraming = { ...UNTIL_CLOSE, isBodiless: true };

/**
 * Decides for a response that does not switch protocols. Takes from `headers` a length that its
 * status must not have. `endStream`: there is no body behind these headers; the rest is of the
 * request.
 */
export function frameResponse(
  headers: HeaderMap,
  endStream: boolean,
  isHead: boolean,
  isHttp10: boolean,
): ResponseFraming {
  const { status } = headers;
  const mayHaveBody = status >= 200 && status !== 204 && status !== 304;
  if (headers.has('content-length')) {
    if (status < 200 || status === 204) headers.remove('content-length');
    return isHead || !mayHaveBody ? BODILESS : AS_IT_STANDS;
  }
  if (!mayHaveBody) return BODILESS;
  if (isHead) return headFraming(endStream, isHttp10);
  if (endStream) return EMPTY_BODY;
  return isHttp10 ? UNTIL_CLOSE : CHUNKED;
}

function headFraming(endStream: boolean, isHttp10: boolean): ResponseFraming {
  if (!isHttp10) return CHUNKED_HEAD;
  return endStream ? BODILESS : UNTIL_CLOSE_HEAD;
}
