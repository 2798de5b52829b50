/**
 * The door that every message passes on its way out, to a host or to a client, whichever protocol
 * writes it: nothing leaves whose method, target, authority, header name or value is not what RFC
 * 9110 permits. One message in is one message out, whatever a formatter, a filter or a certificate
 * made of what peers sent.
 *
 * Codecs ask as they write: `requestFault` before a request's head, `dropUnfit` before a response's
 * head and before trailers. Fields cost nothing here: parsers let nothing unfit in, and a
 * `HeaderMap` notes when something unfit is put into it afterwards. The request line is checked
 * each time.
 */
import { quoteJson } from '../../shared/json/quote-json.ts';
import type { HeaderMap } from './header-map.ts';
import { headerName } from './header-names.ts';
import { isAuthority, isFitField, isTarget } from './permitted.ts';

const SLASH = 0x2f;
const LOWEST_FINAL_STATUS = 200;
const HIGHEST_STATUS = 999;
const BAD_GATEWAY = 502;
const SWITCHING_PROTOCOLS = 101;
const SCHEME = /^[A-Za-z][A-Za-z0-9+\-.]*$/;

/**
 * Why a request must not leave, in Envoy's words, or undefined. `isOwn`: a request of this server
 * whose authority and path the operator wrote, such as a health check that names a cluster.
 */
export function requestFault(headers: HeaderMap, isOwn = false): string | undefined {
  return lineFault(headers, isOwn) ?? (headers.isSuspect ? fieldFault(headers) : undefined);
}

/**
 * Takes from a response's head, or from trailers, what must not leave; the number of fields taken.
 */
export function dropUnfit(headers: HeaderMap): number {
  return headers.isSuspect ? headers.dropUnfit() : 0;
}

/** What the protocol writes in places of its own. */
function lineFault(headers: HeaderMap, isOwn: boolean): string | undefined {
  const { method, path, authority, protocol } = headers;
  if (method === '') return missing(':method');
  if (headerName(method) === undefined) return invalidValue(':method');
  const isTunnel = method === 'CONNECT' && protocol === '';
  if (isTunnel && authority === '') return missing(':authority');
  if (path === '') {
    if (!isTunnel) return missing(':path');
  } else if (!isFitTarget(path, method, isOwn)) return invalidValue(':path');
  if (authority !== '') {
    const isFit = isOwn && !isTunnel ? isTarget(authority) : isAuthority(authority);
    if (!isFit) return invalidValue(':authority');
  }
  return schemeFault(headers);
}

function schemeFault({ scheme, protocol }: HeaderMap): string | undefined {
  const isFit = scheme === 'http' || scheme === '' || SCHEME.test(scheme);
  if (!isFit) return invalidValue(':scheme');
  const isNamed = protocol === '' || headerName(protocol) !== undefined;
  return isNamed ? undefined : invalidValue(':protocol');
}

/** True of the target of a request that is passed on: a path, or `*` of OPTIONS. */
function isFitTarget(path: string, method: string, isOwn: boolean): boolean {
  if (!isTarget(path)) return false;
  return isOwn || path.charCodeAt(0) === SLASH || (path === '*' && method === 'OPTIONS');
}

function fieldFault({ entries }: HeaderMap): string | undefined {
  let lengths = 0;
  for (let at = 0; at < entries.length; at += 2) {
    const name = entries[at] ?? '';
    if (headerName(name) === undefined)
      return `invalid header name: ${quoteJson(name).slice(1, -1)}`;
    if (!isFitField(name, entries[at + 1] ?? '')) return invalidValue(name);
    if (name === 'content-length' && ++lengths > 1) return invalidValue(name);
  }
  return undefined;
}

function missing(name: string): string {
  return `missing required header: ${name}`;
}

/** Envoy's words for a header that must not leave. */
export function invalidValue(name: string): string {
  return `invalid header value for: ${name}`;
}

/** Gives an answer a status that answers have; the number of mended ones. */
export function mendStatus(headers: HeaderMap): number {
  const { status } = headers;
  const isFinal = status >= LOWEST_FINAL_STATUS && status <= HIGHEST_STATUS;
  if (isFinal && Number.isInteger(status)) return 0;
  if (status === SWITCHING_PROTOCOLS && headers.has('upgrade')) return 0;
  headers.status = BAD_GATEWAY;
  return 1;
}
