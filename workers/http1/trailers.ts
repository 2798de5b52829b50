/** Reads the trailers behind the last chunk of a message. */
import { HeaderMap } from '../stream/header-map.ts';
import type { HeaderBlockParser } from './header-block.ts';
import type { MessageLimits } from './message-limits.ts';
import { parseErrors, type ParseError } from './parse-errors.ts';
import { CRLF } from './serialise.ts';

/**
 * Undefined: there are none to pass on. A request's may not say whom it is for, nor how it is
 * framed.
 */
export function readTrailers(
  text: string,
  block: HeaderBlockParser,
  { enableTrailers }: MessageLimits,
  isRequest: boolean,
): HeaderMap | ParseError | undefined {
  if (text === CRLF) return undefined;
  const trailers = new HeaderMap();
  const error = block.parse(text, 0, trailers, isRequest);
  if (error !== undefined) return error;
  if (isRequest && (block.hostCount > 0 || block.chunked)) return parseErrors.codec;
  trailers.remove('content-length');
  return enableTrailers && trailers.count > 0 ? trailers : undefined;
}
