/**
 * Writes the heads of HTTP/1 messages from header maps, as latin-1 text. Framing headers of the map
 * are written as they stand (`content-length`) or decided by the caller (`transfer-encoding`,
 * `connection`), never copied from the other side.
 */
import type { HeaderMap } from '../stream/header-map.ts';
import { reasonPhrase } from '../stream/reason-phrases.ts';

export const CRLF = '\r\n';
export const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
export const CHUNKED_LINE = 'transfer-encoding: chunked\r\n';
export const EMPTY_BODY_LINE = 'content-length: 0\r\n';
export const UPGRADE_LINE = 'connection: upgrade\r\n';

/** How names are written; `lower` costs nothing. */
export type HeaderCase = 'lower' | 'proper' | 'preserve';

const statusLines = new Map<number, string>();

/** `HTTP/1.1 200 OK` with its line end. */
export function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n`;
    statusLines.set(status, line);
  }
  return line;
}

/** The same for a client of HTTP/1.0: Envoy answers in the client's version. */
export function statusLine10(status: number): string {
  return `HTTP/1.0 ${status} ${reasonPhrase(status)}\r\n`;
}

/** The request line; the target of CONNECT is the authority. */
export function requestLine(headers: HeaderMap, isFullUrl: boolean): string {
  const target = headers.method === 'CONNECT' ? headers.authority : headers.path;
  const origin =
    isFullUrl && headers.method !== 'CONNECT' ? headers.scheme + '://' + headers.authority : '';
  return headers.method + ' ' + origin + target + ' HTTP/1.1\r\n';
}

export function hostLine(headers: HeaderMap, headerCase: HeaderCase): string {
  const isLower = headers.originalNames === undefined && headerCase !== 'proper';
  return (isLower ? 'host: ' : 'Host: ') + headers.authority + CRLF;
}

/**
 * All entries, one line each. Names that were kept as they came count before this side's own case.
 */
export function headerLines(headers: HeaderMap, headerCase: HeaderCase): string {
  const { entries, originalNames: originals } = headers;
  let text = '';
  if (originals === undefined && headerCase !== 'proper') {
    for (let at = 0; at < entries.length; at += 2) {
      text += (entries[at] as string) + ': ' + (entries[at + 1] as string) + CRLF;
    }
    return text;
  }
  for (let at = 0; at < entries.length; at += 2) {
    const name = entries[at] as string;
    text += (originals?.[at >> 1] ?? properCase(name)) + ': ' + (entries[at + 1] as string) + CRLF;
  }
  return text;
}

const properNames = new Map<string, string>();
const MAX_PROPER_NAMES = 2048;

/** First letters and those behind `-` in upper case, as Envoy's proper case words. */
function properCase(name: string): string {
  let proper = properNames.get(name);
  if (proper === undefined) {
    proper = name.replace(/(^|[^a-z0-9])([a-z])/g, (_, before: string, letter: string) => {
      return before + letter.toUpperCase();
    });
    if (properNames.size < MAX_PROPER_NAMES) properNames.set(name, proper);
  }
  return proper;
}

const PROPER_LINES: Readonly<Record<string, string>> = {
  [CHUNKED_LINE]: 'Transfer-Encoding: chunked\r\n',
  [EMPTY_BODY_LINE]: 'Content-Length: 0\r\n',
  [UPGRADE_LINE]: 'Connection: upgrade\r\n',
};

/** One of the lines above as this case writes it; '' stays. */
export function framingLine(line: string, headerCase: HeaderCase): string {
  return headerCase === 'proper' ? (PROPER_LINES[line] ?? line) : line;
}

/** The last chunk, with trailers when there are any. */
export function lastChunk(trailers: HeaderMap | undefined): string {
  return trailers === undefined ? '0\r\n\r\n' : `0\r\n${headerLines(trailers, 'lower')}\r\n`;
}

export function informational(headers: HeaderMap): string {
  return statusLine(headers.status) + headerLines(headers, 'lower') + CRLF;
}
