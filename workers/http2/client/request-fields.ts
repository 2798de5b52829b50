/**
 * Puts a request into a header block as Envoy orders it: pseudo headers in the order in which the
 * request got them, then fields as they stand.
 * What HTTP/1 says of one connection has no place here (RFC 9113 section 8.2.2), and an upgrade of
 * HTTP/1 becomes an extended CONNECT (RFC 8441).
 */
import type { HeaderMap } from '../../stream/header-map.ts';
import { namesInOrder } from '../../stream/pseudo-order.ts';
import type { HpackEncoder } from '../hpack/encoder.ts';

/** The fields of one hop of HTTP/1, whatever added them. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** The protocol that a request of HTTP/1 wants to switch to; '' for none. */
export function upgradeOf(headers: HeaderMap): string {
  return headers.method === 'CONNECT' ? '' : (headers.get('upgrade') ?? '');
}

export function writeRequest(encoder: HpackEncoder, headers: HeaderMap): void {
  const { authority, method, path, protocol, scheme } = headers;
  const upgrade = upgradeOf(headers);
  const isTunnel = method === 'CONNECT' && protocol === '';
  for (const name of namesInOrder(headers.pseudoOrder)) {
    if (name === ':method') encoder.field(name, upgrade === '' ? method : 'CONNECT');
    else if (name === ':authority') {
      if (authority !== '') encoder.field(name, authority);
    } else if (isTunnel) continue;
    else if (name === ':path') encoder.field(name, path);
    else encoder.field(name, scheme === '' ? 'http' : scheme);
  }
  const named = upgrade === '' ? protocol : upgrade;
  if (named !== '') encoder.field(':protocol', named);
  writeFields(encoder, headers);
}

export function writeFields(encoder: HpackEncoder, { entries }: HeaderMap): void {
  for (let at = 0; at < entries.length; at += 2) {
    const name = entries[at] as string;
    if (!LEFT_OUT.has(name)) encoder.field(name, entries[at + 1] as string);
  }
}
