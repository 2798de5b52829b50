/** What either side's HTTP/1 codec reads and how it writes. */
import { type ParseError, parseErrors } from './parse-errors.ts';
import type { HeaderCase } from './serialise.ts';

export interface MessageLimits {
  /** The limit of a head without what `LINE_OVERHEAD` counts. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  readonly enableTrailers: boolean;
  /** Content-Length beside chunked is dropped instead of refused. */
  readonly allowChunkedLength: boolean;
  /** Whether a request for this protocol is served as one that asks for none. */
  readonly ignoresUpgrade?: (protocol: string) => boolean;
  readonly headerCase: HeaderCase;
}

/** Bytes per line that are not name or value: colon, blank, CR, LF. */
const LINE_OVERHEAD = 4;

/** No head is longer; one that drips in is stored up to here. */
export function mostHeadBytes({ maxHeaderBytes, maxHeaderCount }: MessageLimits): number {
  return maxHeaderBytes + LINE_OVERHEAD * (maxHeaderCount + 2);
}

/** What is wrong with `bytes` of a head with `headerCount` header lines, its start line and its empty line. */
export function headSizeError(
  bytes: number,
  headerCount: number,
  { maxHeaderBytes }: MessageLimits,
): ParseError | undefined {
  const isTooLarge = bytes - LINE_OVERHEAD * (headerCount + 2) > maxHeaderBytes;
  return isTooLarge ? parseErrors.headersTooLarge : undefined;
}
