/** Questions for addresses to name servers and their answers, as messages of RFC 1035. */
import { decode, encode, RECURSION_DESIRED, type Packet } from 'dns-packet';

const TYPES = { 4: 'A', 6: 'AAAA' } as const;
const LABEL_BYTES_MAX = 63;
/** With the length before each label and the empty one at the end. */
const NAME_BYTES_MAX = 255;

/** c-ares's names of what a name server answers. */
const RESPONSE_CODES: Readonly<Record<string, string>> = {
  FORMERR: 'EFORMERR',
  SERVFAIL: 'ESERVFAIL',
  NXDOMAIN: 'ENOTFOUND',
  NOTIMP: 'ENOTIMP',
  REFUSED: 'EREFUSED',
};

export interface AddressRecord {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Undefined for what is no name. */
export function encodeQuestion(name: string, family: 4 | 6, id: number): Buffer | undefined {
  const labels = name.split('.').map((label) => Buffer.byteLength(label));
  const bytes = labels.reduce((sum, length) => sum + 1 + length, 1);
  const isName = labels.every((length) => length > 0 && length <= LABEL_BYTES_MAX);
  if (!isName || bytes > NAME_BYTES_MAX) return undefined;
  return encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ type: TYPES[family], name }],
  });
}

/** The addresses of an answer to the question with this id, or c-ares's code for want of any. */
export function decodeAnswer(
  message: Buffer,
  family: 4 | 6,
  id: number,
): readonly AddressRecord[] | string {
  let packet: Packet & { readonly rcode?: string };
  try {
    packet = decode(message);
  } catch {
    return 'EBADRESP';
  }
  if (packet.id !== id || packet.type !== 'response') return 'EBADRESP';
  const { rcode = 'NOERROR' } = packet;
  if (rcode !== 'NOERROR') return RESPONSE_CODES[rcode] ?? 'ESERVFAIL';
  const records = (packet.answers ?? []).flatMap((answer) =>
    answer.type === TYPES[family] ? [{ address: answer.data, ttl: answer.ttl ?? 0 }] : [],
  );
  return records.length === 0 ? 'ENODATA' : records;
}
