/** Where a session's host travels between proxy and client: one row per kind of session state. */
import { KindTable, type OfKind } from '../../../../shared/resources/by-kind.ts';
import type { SessionState } from '../../../../shared/resources/filters/http/stateful-session.ts';
import { cookieValue, setCookie } from '../../../stream/cookies.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { decodeBase64, readSessionCookie, writeSessionCookie } from './session-cookie.ts';

/** Reads the host's address from requests, and writes it into responses. */
export interface SessionCarrier {
  /** Whether requests of this path belong to sessions. */
  isFor(path: string): boolean;
  read(request: HeaderMap): string | undefined;
  write(response: HeaderMap, address: string): void;
}

type WallSeconds = () => number;

export const SESSION_STATES = new KindTable<SessionState, [WallSeconds], SessionCarrier>({
  cookie: ({ cookie }, wallSeconds) => cookieCarrier(cookie, wallSeconds),
  header: ({ name }) => ({
    isFor: () => true,
    read: (request) => decodeBase64(request.get(name) ?? '')?.toString('latin1'),
    write: (response, address) => response.set(name, Buffer.from(address).toString('base64')),
  }),
});

function cookieCarrier(
  cookie: OfKind<SessionState, 'cookie'>['cookie'],
  wallSeconds: WallSeconds,
): SessionCarrier {
  return {
    isFor: (path) => isBelow(path, cookie.path),
    read: (request) => readSessionCookie(cookieValue(request, cookie.name), wallSeconds()),
    write(response, address) {
      const value = writeSessionCookie(address, cookie.ttlMs ?? 0, wallSeconds());
      response.add('set-cookie', setCookie(cookie, value));
    },
  };
}

/** Whether the path is the cookie's or below it (RFC 6265, section 5.1.4). */
function isBelow(requestPath: string, cookiePath: string): boolean {
  if (cookiePath === '' || cookiePath === '/') return true;
  const end = requestPath.search(/[?#]/);
  const path = end < 0 ? requestPath : requestPath.slice(0, end);
  if (!path.startsWith(cookiePath)) return false;
  return (
    path.length === cookiePath.length || cookiePath.endsWith('/') || path[cookiePath.length] === '/'
  );
}
