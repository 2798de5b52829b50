/**
 * Request targets in absolute form (RFC 9112 section 3.2.2). Takes what Envoy takes, but for zones
 * of IPv6 addresses: these must be numbers, whichever interfaces this machine has.
 */
import { isIP } from '../../shared/addresses/ip-text.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+\-.]*):\/\/([^/?#]*)(.*)$/;
/** Envoy's parser refuses these in a host before it looks at the rest. */
const NOT_IN_URLS = /["\\<>{}|^`]/;
/** With its `@`, or nothing. */
const USER = /^(?:[A-Za-z0-9\-_.!~*'()%;:&=+$,]*@)?$/;
const HOST_AND_PORT = /^(?:([A-Za-z0-9.-]+)|\[([0-9A-Fa-f:.]+)(?:%[0-9]+)?\])(?::([0-9]+))?$/;
const MAX_PORT = 65_535;
const HASH = 0x23;

/**
 * Gives scheme, authority and path of `target` to `headers`, whose path may come to lack its slash.
 */
export function parseAbsoluteTarget(target: string, headers: HeaderMap): ParseError | undefined {
  const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  if (scheme === '' || NOT_IN_URLS.test(authority)) return parseErrors.codec;
  if (authority !== '' && rest.charCodeAt(0) === HASH) return parseErrors.codec;
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const user = authority.slice(0, authority.length - hostAndPort.length);
  if (!USER.test(user) || !isHostAndPort(hostAndPort)) return parseErrors.invalidUrl;
  const lower = scheme.toLowerCase();
  if (lower !== 'http' && lower !== 'https') return parseErrors.invalidScheme;
  headers.authority = hostAndPort;
  headers.scheme = lower;
  headers.path = rest || '/';
  return undefined;
}

function isHostAndPort(text: string): boolean {
  const parts = HOST_AND_PORT.exec(text);
  if (parts === null) return false;
  const [, , address, port = '0'] = parts;
  return (address === undefined || isIP(address) !== 0) && Number(port) <= MAX_PORT;
}
