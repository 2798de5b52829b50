/** Parses the status line and headers of one HTTP/1 response into a header map. */
import type { HeaderMap } from '../stream/header-map.ts';
import type { HeaderBlockParser } from './header-block.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

/** Three digits and a reason that may be missing; the reason itself is never passed on. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?$/;

export interface StatusLine {
  isHttp10: boolean;
}

/** Parses a head that begins at the start of `text` and is there whole. */
export function parseResponseHead(
  text: string,
  headers: HeaderMap,
  block: HeaderBlockParser,
  line: StatusLine,
): ParseError | undefined {
  let lineEnd = text.indexOf('\n');
  const next = lineEnd + 1;
  if (text.charCodeAt(lineEnd - 1) === 0x0d) lineEnd--;
  // What nearly every upstream says, without the expression.
  if (lineEnd === 15 && text.startsWith('HTTP/1.1 200 OK')) {
    headers.status = 200;
    line.isHttp10 = false;
  } else {
    const match = STATUS_LINE.exec(text.slice(0, lineEnd));
    if (match === null) return parseErrors.codec;
    headers.status = Number(match[2]);
    line.isHttp10 = match[1] === '0';
  }
  const error = block.parse(text, next, headers, false);
  if (error !== undefined) return error;
  // A 1.0 peer does not know the coding: its length could be read in two ways.
  if (line.isHttp10 && block.chunked) return parseErrors.transferEncoding;
  return undefined;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
