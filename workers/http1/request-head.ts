/** Parses the request line and headers of one HTTP/1 request into a header map. */
import { HeaderMap } from '../stream/header-map.ts';
import { isAuthority, isTarget } from '../stream/permitted.ts';
import type { HeaderBlockParser } from './header-block.ts';
import { parseAbsoluteTarget } from './absolute-target.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

/** Envoy's list; other methods are refused where not any token is allowed. */
const METHODS = new Set(
  `ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL MOVE
  MSEARCH NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE
  TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE`.split(/\s+/),
);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

const LISTED_STARTS = new Uint8Array(256);
for (const method of METHODS) LISTED_STARTS[method.charCodeAt(0)] = 1;
const TOKEN_STARTS = new Uint8Array(256).map((_, byte) =>
  TOKEN.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** 1 at the bytes that a method may begin with. */
export function methodStarts({ allowsAnyMethod }: RequestHeadOptions): Uint8Array {
  return allowsAnyMethod === true ? TOKEN_STARTS : LISTED_STARTS;
}

const VERSION = /^HTTP\/[0-9]\.[0-9]$/;
/** A host or an address, and a port. */
const CONNECT_TARGET = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()+,;=%-]+):(\d{1,5})$/;
const MAX_PORT = 65_535;
const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+\-.]*:\/\//;
const SLASH = 0x2f;

export interface RequestHeadOptions {
  readonly acceptHttp10: boolean;
  readonly allowAbsoluteUrl: boolean;
  readonly defaultHostForHttp10: string;
  /** A method may be any token. */
  readonly allowsAnyMethod?: boolean;
}

/** What the request line says beside the map: the version, and whether the target was absolute. */
export interface RequestLine {
  isHttp10: boolean;
}

/**
 * Parses a head that begins at the start of `text` and is there whole. On success `block.end` is
 * where the body begins. `path` is the target as written; for CONNECT it stays empty and the target
 * is the authority.
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

/**
 * What is wrong with a request line that has come before the rest of its head: that is not waited
 * for. A version that is too low is told of when the whole head is there, as Envoy does.
 */
export function earlyLineError(line: string, options: RequestHeadOptions): ParseError | undefined {
  const request = { line: { isHttp10: false }, options };
  const error = parseRequestLine(line, new HeaderMap(), request);
  return error === parseErrors.lowVersion ? undefined : error;
}

function parseRequestLine(
  line: string,
  headers: HeaderMap,
  request: { readonly line: RequestLine; readonly options: RequestHeadOptions },
): ParseError | undefined {
  const firstBlank = line.indexOf(' ');
  if (firstBlank < 0) return parseErrors.codec;
  const method = line.slice(0, firstBlank);
  if (!METHODS.has(method) && !(request.options.allowsAnyMethod === true && TOKEN.test(method))) {
    return parseErrors.codec;
  }
  const secondBlank = line.indexOf(' ', firstBlank + 1);
  const targetEnd = secondBlank < 0 ? line.length : secondBlank;
  const target = line.slice(firstBlank + 1, targetEnd);
  const version = line.slice(targetEnd + 1);
  request.line.isHttp10 = false;
  headers.method = method;
  headers.authority = '';
  const isPath = target.charCodeAt(0) === SLASH && method !== 'CONNECT';
  const error = isPath
    ? takePath(target, headers)
    : parseOtherTarget(target, headers, request.options);
  if (version === 'HTTP/1.1') return error;
  if (version === '') return error ?? parseErrors.noVersion;
  return versionError(version, request) ?? error;
}

function versionError(
  version: string,
  { line, options }: { readonly line: RequestLine; readonly options: RequestHeadOptions },
): ParseError | undefined {
  if (!VERSION.test(version)) return parseErrors.codec;
  if (version !== 'HTTP/1.0' || !options.acceptHttp10) return parseErrors.lowVersion;
  line.isHttp10 = true;
  return undefined;
}

function takePath(target: string, headers: HeaderMap): ParseError | undefined {
  headers.path = target;
  if (isTarget(target)) return undefined;
  // Envoy's parser refuses bytes above 127 before it looks at control bytes.
  return /[\x80-\xff]/.test(target) ? parseErrors.codec : parseErrors.invalidCharacters;
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
  if (target === '*') return parseErrors.invalidUrl;
  if (!options.allowAbsoluteUrl && ABSOLUTE_FORM.test(target)) {
    headers.path = target;
    return undefined;
  }
  return parseAbsoluteTarget(target, headers);
}

function isConnectTarget(target: string): boolean {
  const port = CONNECT_TARGET.exec(target)?.[1];
  return port !== undefined && Number(port) <= MAX_PORT;
}

/** What follows a CONNECT has no framing. */
export function connectBodyError(block: HeaderBlockParser): ParseError | undefined {
  if (block.chunked) return parseErrors.transferEncoding;
  return block.contentLength > 0 ? parseErrors.bodyDisallowed : undefined;
}
