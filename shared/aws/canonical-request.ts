/**
 * A request in the one form that AWS signs (Signature Version 4, "create a canonical request"). Header
 * values and paths have one character per byte.
 */
import { createHash, type Hash } from 'node:crypto';

export type HeaderPair = readonly [name: string, value: string];

export interface SignableRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names in lower case; `host` stands for the authority. */
  readonly headers: readonly HeaderPair[];
}

export interface CanonicalRequest {
  readonly text: string;
  /** In their order, with semicolons between them. */
  readonly signedHeaders: string;
}

export interface PathStyle {
  /** `.`, `..` and empty segments are resolved: every service but S3 asks for it. */
  readonly isNormalized: boolean;
  /** What is encoded already is encoded once more, likewise. */
  readonly isEncodedTwice: boolean;
}

const S3 = new Set(['s3', 's3-outposts', 's3express']);

export const EMPTY_HASH = sha256Hex('');
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

export function pathStyleOf(service: string): PathStyle {
  const isOther = !S3.has(service);
  return { isNormalized: isOther, isEncodedTwice: isOther };
}

export function canonicalRequest(
  { method, path, headers }: SignableRequest,
  payloadHash: string,
  style: PathStyle,
): CanonicalRequest {
  const question = path.indexOf('?');
  const plainPath = question === -1 ? path : path.slice(0, question);
  const query = question === -1 ? '' : path.slice(question + 1);
  const lines = canonicalHeaders(headers);
  const signedHeaders = [...lines.keys()].join(';');
  const text = [
    method,
    canonicalPath(plainPath, style),
    canonicalQuery(query),
    ...[...lines].map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    payloadHash,
  ].join('\n');
  return { text, signedHeaders };
}

/**
 * In the order of their names. Values of one name are joined, and of a run of white space the last
 * character counts, as in Envoy. What has no value is not signed.
 */
function canonicalHeaders(headers: readonly HeaderPair[]): ReadonlyMap<string, string> {
  const byName = new Map<string, string>();
  for (const [name, value] of headers) {
    const plain = value.trim().replace(/[ \t]{2,}/g, (run) => run.at(-1) ?? '');
    if (plain === '') continue;
    const present = byName.get(name);
    byName.set(name, present === undefined ? plain : `${present},${plain}`);
  }
  return new Map([...byName].sort(([one], [other]) => compare(one, other)));
}

export function canonicalPath(path: string, style: PathStyle): string {
  const resolved = style.isNormalized ? resolveSegments(path) : path;
  if (resolved === '') return '/';
  const encode = style.isEncodedTwice ? uriEncode : encodeOnce;
  return resolved.split('/').map(encode).join('/');
}

function resolveSegments(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  const tail = path.endsWith('/') && kept.length > 0 ? '/' : '';
  return `/${kept.join('/')}${tail}`;
}

/** Parameters in their order by name and value, each encoded once. */
export function canonicalQuery(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .filter((each) => each !== '')
    .map((each): readonly [string, string] => {
      const equals = each.indexOf('=');
      const name = equals === -1 ? each : each.slice(0, equals);
      const value = equals === -1 ? '' : each.slice(equals + 1);
      return [encodeParameter(name), encodeParameter(value)];
    })
    .sort(
      ([name, value], [other, otherValue]) => compare(name, other) || compare(value, otherValue),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** A plus sign is a space in a query. */
function encodeParameter(text: string): string {
  return uriEncode(percentDecode(text.replaceAll('+', ' ')));
}

/** Bytes in, one character each: everything but unreserved characters (RFC 3986) as `%XX`. */
export function uriEncode(text: string): string {
  return text.replace(/[^A-Za-z0-9\-._~]/g, (byte) => {
    const hex = byte.charCodeAt(0).toString(16).toUpperCase();
    return hex.length === 1 ? `%0${hex}` : `%${hex}`;
  });
}

/** What stands encoded stays as it was written. */
function encodeOnce(text: string): string {
  return text.split('%').map(uriEncode).join('%');
}

function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

export function sha256Hex(data: string | Uint8Array): string {
  const hash: Hash = createHash('sha256');
  return (typeof data === 'string' ? hash.update(data, 'latin1') : hash.update(data)).digest('hex');
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
