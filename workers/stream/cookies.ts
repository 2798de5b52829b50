/** Cookies as this proxy reads and makes them for its own purposes. */
import type { HeaderMap } from './header-map.ts';

export interface CookieShape {
  readonly name: string;
  /** Absent or 0: the cookie ends with the browser's session. */
  readonly ttlMs?: number;
  readonly path: string;
  readonly attributes: readonly { readonly name: string; readonly value: string }[];
}

/** The value of a `set-cookie` header. */
export function setCookie(
  { name, ttlMs = 0, path, attributes }: CookieShape,
  value: string,
): string {
  const maxAgeS = Math.floor(ttlMs / 1000);
  let text = `${name}="${value}"`;
  if (maxAgeS > 0) text += `; Max-Age=${maxAgeS}`;
  if (path !== '') text += `; Path=${path}`;
  for (const attribute of attributes) {
    text += `; ${attribute.name}`;
    if (attribute.value !== '') text += `=${attribute.value}`;
  }
  return `${text}; HttpOnly`;
}

/** Takes cookies out of a request; the header goes with the last one. */
export function removeCookies(headers: HeaderMap, isUnwanted: (name: string) => boolean): void {
  const all = headers.getAll('cookie', ';');
  if (all === undefined) return;
  const kept = all
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !isUnwanted(part.split('=', 1)[0] ?? ''));
  if (kept.length === 0) headers.remove('cookie');
  else headers.set('cookie', kept.join('; '));
}

/** The first cookie of the name, without quotes; empty when there is none. */
export function cookieValue(headers: HeaderMap, name: string): string {
  return findCookie(headers, name) ?? '';
}

/** All of a request by name, without quotes; of several of a name the first. */
export function readCookies(headers: HeaderMap): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const part of headers.getAll('cookie', ';')?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    if (!cookies.has(name)) cookies.set(name, unquoted(part.slice(equals + 1).trim()));
  }
  return cookies;
}

/** In place of all that were there, behind the other headers. */
export function writeCookies(headers: HeaderMap, cookies: ReadonlyMap<string, string>): void {
  headers.remove('cookie');
  headers.add('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
}

/** The same as cookieValue, undefined when there is none. */
export function findCookie(headers: HeaderMap, name: string): string | undefined {
  const all = headers.getAll('cookie', ';');
  if (all === undefined) return undefined;
  for (const part of all.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 0 || part.slice(0, equals).trim() !== name) continue;
    return unquoted(part.slice(equals + 1).trim());
  }
  return undefined;
}

function unquoted(value: string): string {
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1) : value;
}
