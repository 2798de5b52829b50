/**
 * Gives an HTTP/2 request the form that the rest of the proxy knows: an extended CONNECT (RFC 8441)
 * becomes a request to upgrade, `expect` is taken out, names that are lists are joined.
 */
import type { HeaderMap } from '../stream/header-map.ts';
import { headerName } from '../stream/header-names.ts';
import { JOINED_IN_REQUESTS } from '../stream/joined-headers.ts';

export interface RequestShape {
  /** It was an extended CONNECT. */
  readonly isUpgrade: boolean;
  readonly isConnect: boolean;
  readonly expectsContinue: boolean;
}

const PLAIN: RequestShape = { isUpgrade: false, isConnect: false, expectsContinue: false };
const CONNECT: RequestShape = { ...PLAIN, isConnect: true };
const UPGRADE: RequestShape = { ...PLAIN, isUpgrade: true };
const EXPECTING: RequestShape = { ...PLAIN, expectsContinue: true };

/** Undefined where a name of a protocol is none. */
export function shapeRequest(headers: HeaderMap): RequestShape | undefined {
  joinLists(headers);
  if (headers.method === 'CONNECT') {
    // What follows has no length.
    headers.remove('content-length');
    if (headers.protocol === '') return CONNECT;
    if (headerName(headers.protocol) === undefined) return undefined;
    headers.method = 'GET';
    headers.addParsed('upgrade', headers.protocol, 'Upgrade');
    headers.addParsed('connection', 'upgrade', 'Connection');
    headers.protocol = '';
    return UPGRADE;
  }
  if (headers.get('expect')?.toLowerCase() !== '100-continue') return PLAIN;
  headers.remove('expect');
  return EXPECTING;
}

/** As Envoy's header map does with what it knows; most requests have no name twice. */
function joinLists(headers: HeaderMap): void {
  const { entries } = headers;
  for (let at = 2; at < entries.length; at += 2) {
    const name = entries[at] ?? '';
    if (!JOINED_IN_REQUESTS.has(name) || isFirst(entries, name, at)) continue;
    headers.set(name, headers.getAll(name) ?? '');
    at -= 2;
  }
}

function isFirst(entries: readonly string[], name: string, before: number): boolean {
  for (let at = 0; at < before; at += 2) if (entries[at] === name) return false;
  return true;
}
