/**
 * Reads two facts that node:tls does not tell from a serialised session (the ASN.1 of OpenSSL):
 *
 *   SEQUENCE { INTEGER 1, INTEGER version, OCTET STRING cipher, OCTET STRING session id, ...,
 *              [19] { INTEGER group } }
 */
import { elementAt, TAG } from '../../shared/tls/der.ts';

/** Context-specific, constructed, number 19. */
const GROUP = 0xb3;

/** Envoy's names of TLS groups. */
const GROUPS: Readonly<Record<number, string>> = {
  0x17: 'P-256',
  0x18: 'P-384',
  0x19: 'P-521',
  0x1d: 'X25519',
  0x1e: 'X448',
};

export interface SessionInfo {
  /** Lower case hex; empty in TLS 1.3. */
  readonly id: string;
  readonly group: string | undefined;
}

const NONE: SessionInfo = { id: '', group: undefined };

/** Never throws: what cannot be read is not known. */
export function readSession(session: Buffer | undefined): SessionInfo {
  if (session === undefined || session[0] !== TAG.sequence) return NONE;
  const outer = elementAt(session, 0);
  if (outer === undefined) return NONE;
  let id = '';
  let group: string | undefined;
  let strings = 0;
  let at = outer.start;
  while (at < outer.end) {
    const element = elementAt(session, at);
    if (element === undefined) break;
    if (element.tag === TAG.octetString) {
      strings += 1;
      if (strings === 2) id = session.toString('hex', element.start, element.end);
    } else if (element.tag === GROUP) {
      group = GROUPS[readInteger(session, element.start)];
    }
    at = element.end;
  }
  return { id, group };
}

function readInteger(data: Buffer, at: number): number {
  const element = elementAt(data, at);
  const length = element === undefined ? 0 : element.end - element.start;
  return element === undefined || length < 1 || length > 4
    ? -1
    : data.readUIntBE(element.start, length);
}
