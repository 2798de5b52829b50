/** What of a response's fields goes into its HTTP/2 block: no field that is HTTP/1's alone. */
import type { HeaderMap } from '../stream/header-map.ts';
import type { HpackEncoder } from './hpack/encoder.ts';

export function writeResponse(encoder: HpackEncoder, headers: HeaderMap): void {
  encoder.field(':status', String(headers.status));
  writeFields(encoder, headers);
}

export function writeFields(encoder: HpackEncoder, headers: HeaderMap): void {
  const { entries } = headers;
  for (let at = 0; at < entries.length; at += 2) {
    const name = entries[at] ?? '';
    switch (name) {
      case 'connection':
      case 'keep-alive':
      case 'proxy-connection':
      case 'transfer-encoding':
      case 'upgrade':
        break;
      default:
        encoder.field(name, entries[at + 1] ?? '');
    }
  }
}
