/** Parses the request line and headers of one HTTP/1 request into a header map. */
import type { HeaderMap } from '../header-map.ts';
import { isAuthority, isTarget } from '../permitted.ts';
import type { HeaderBlockParser } from './header-block.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

/** The reference's list; other methods are refused. */
const METHODS = new Set(
  `ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE
  M-SEARCH NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SOURCE SUBSCRIBE
  TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE`.split(/\s+/),
);
/** 1 at the bytes that a method may begin with. */
export const FIRST_LETTERS = new Uint8Array(256);
for (const method of METHODS) FIRST_LETTERS[method.charCodeAt(0)] = 1;

const VERSION = /^HTTP\/[0-9]\.[0-9]$/;
/** A host or an address, and a port. */
const CONNECT_TARGET = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()+,;=%-]+):(\d{1,5})$/;
const MAX_PORT = 65_535;
const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+\-.]*):\/\/([^/?#]*)(.*)$/;
const SLASH = 0x2f;

export interface RequestHeadOptions {
  readonly acceptHttp10: boolean;
  readonly allowAbsoluteUrl: boolean;
  readonly defaultHostForHttp10: string;
}

/** What the request line says beside the map: the version, and whether the target was absolute. */
export interface RequestLine {
  isHttp10: boolean;
}

/**
 * Parses a head that begins at the start of `text` and is there whole. On success `block.end` is where
 * the body begins. `path` is the target as written; for CONNECT it stays empty and the target is the
 * authority.
 */
export function parseRequestHead(
  text: string,
  headers: HeaderMap,
  block: HeaderBlockParser,
  request: { readonly line: RequestLine; readonly options: RequestHeadOptions },
): ParseError | undefined {
  let lineEnd = text.indexOf('\n');
  const next = lineEnd + 1;
  if (text.charCodeAt(lineEnd - 1) === 0x0d) lineEnd--;
  const lineError = parseRequestLine(text.slice(0, lineEnd), headers, request);
  if (lineError !== undefined) return lineError;
  const target = headers.authority;
  const error = block.parse(text, next, headers, true);
  if (error !== undefined) return error;
  if (request.line.isHttp10) {
    // A proxy in front that speaks 1.0 cannot have meant a coding of 1.1.
    if (block.chunked) return parseErrors.codec;
    if (headers.authority === '') headers.authority = request.options.defaultHostForHttp10;
  }
  // RFC 9112 section 3.2.2: the target's authority replaces the Host header.
  if (target !== '') headers.authority = target;
  return undefined;
}

function parseRequestLine(
  line: string,
  headers: HeaderMap,
  request: { readonly line: RequestLine; readonly options: RequestHeadOptions },
): ParseError | undefined {
  const firstBlank = line.indexOf(' ');
  if (firstBlank < 0) return parseErrors.codec;
  const method = line.slice(0, firstBlank);
  if (!METHODS.has(method)) return parseErrors.codec;
  const secondBlank = line.indexOf(' ', firstBlank + 1);
  // A request line without a version is HTTP/0.9.
  if (secondBlank < 0) return parseErrors.lowVersion;
  const target = line.slice(firstBlank + 1, secondBlank);
  const version = line.slice(secondBlank + 1);
  request.line.isHttp10 = false;
  if (version !== 'HTTP/1.1') {
    if (!VERSION.test(version)) return parseErrors.codec;
    if (version !== 'HTTP/1.0' || !request.options.acceptHttp10) return parseErrors.lowVersion;
    request.line.isHttp10 = true;
  }
  headers.method = method;
  headers.authority = '';
  if (target.charCodeAt(0) === SLASH && method !== 'CONNECT') {
    headers.path = target;
    if (isTarget(target)) return undefined;
    // The reference's parser refuses bytes above 127 before it looks at control bytes.
    return /[\x80-\xff]/.test(target) ? parseErrors.codec : parseErrors.invalidCharacters;
  }
  return parseOtherTarget(target, headers, request.options);
}

function parseOtherTarget(
  target: string,
  headers: HeaderMap,
  options: RequestHeadOptions,
): ParseError | undefined {
  if (!isTarget(target)) return parseErrors.codec;
  if (headers.method === 'CONNECT') {
    if (!isAuthority(target) || !isConnectTarget(target)) return parseErrors.invalidUrl;
    headers.authority = target;
    return undefined;
  }
  if (target === '*' && headers.method === 'OPTIONS') {
    headers.path = target;
    return undefined;
  }
  const absolute = ABSOLUTE.exec(target);
  if (absolute === null) return target === '*' ? parseErrors.invalidUrl : parseErrors.codec;
  if (!options.allowAbsoluteUrl) {
    headers.path = target;
    return undefined;
  }
  return parseAbsolute(absolute, headers);
}

function parseAbsolute(absolute: RegExpExecArray, headers: HeaderMap): ParseError | undefined {
  const scheme = (absolute[1] ?? '').toLowerCase();
  if (scheme !== 'http' && scheme !== 'https') return parseErrors.invalidScheme;
  const userAndHost = absolute[2] ?? '';
  const authority = userAndHost.slice(userAndHost.lastIndexOf('@') + 1);
  if (authority === '' || !isAuthority(authority)) return parseErrors.invalidUrl;
  headers.authority = authority;
  headers.scheme = scheme;
  const path = absolute[3] ?? '';
  headers.path = path === '' ? '/' : path;
  return undefined;
}

function isConnectTarget(target: string): boolean {
  const port = CONNECT_TARGET.exec(target)?.[1];
  return port !== undefined && Number(port) <= MAX_PORT;
}
