/**
 * Questions to name servers and their answers in the wire format of RFC 1035, as far as addresses need it.
 *
 *   header:   u16 id | u16 flags | u16 questions | u16 answers | u16 authorities | u16 additional
 *   question: name | u16 type | u16 class
 *   record:   name | u16 type | u16 class | u32 time to live | u16 length | data
 *   name:     labels, each a length and its bytes, ended by 0 or by a pointer (two bytes from 0xc000 on)
 */

const HEADER_BYTES = 12;
const RECURSION_DESIRED = 0x0100;
const CLASS_IN = 1;
const TYPES = { 4: 1, 6: 28 } as const;
const ADDRESS_BYTES = { 4: 4, 6: 16 } as const;
const LABEL_BYTES_MAX = 63;
const NAME_BYTES_MAX = 255;
const POINTER = 0xc0;

/** c-ares's names of what a name server answers. */
const RESPONSE_CODES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  3: 'ENOTFOUND',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

export interface AddressRecord {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Undefined for what is no name. */
export function encodeQuestion(name: string, family: 4 | 6, id: number): Buffer | undefined {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  if (labels.some(({ length }) => length === 0 || length > LABEL_BYTES_MAX)) return undefined;
  const encoded = Buffer.concat([
    ...labels.flatMap((label) => [Buffer.of(label.length), label]),
    Buffer.of(0),
  ]);
  if (encoded.length > NAME_BYTES_MAX) return undefined;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const end = Buffer.alloc(4);
  end.writeUInt16BE(TYPES[family], 0);
  end.writeUInt16BE(CLASS_IN, 2);
  return Buffer.concat([header, encoded, end]);
}

/** The addresses of an answer to the question with this id, or c-ares's code for want of any. */
export function decodeAnswer(
  message: Buffer,
  family: 4 | 6,
  id: number,
): readonly AddressRecord[] | string {
  try {
    return decode(message, family, id);
  } catch (error) {
    // What ends in the middle of something.
    if (error instanceof RangeError) return 'EBADRESP';
    throw error;
  }
}

function decode(message: Buffer, family: 4 | 6, id: number): readonly AddressRecord[] | string {
  if (message.readUInt16BE(0) !== id) return 'EBADRESP';
  const code = message.readUInt16BE(2) & 0xf;
  if (code !== 0) return RESPONSE_CODES[code] ?? 'ESERVFAIL';
  let at = HEADER_BYTES;
  for (let left = message.readUInt16BE(4); left > 0; left--) at = skipName(message, at) + 4;
  const records: AddressRecord[] = [];
  for (let left = message.readUInt16BE(6); left > 0; left--) {
    at = skipName(message, at);
    const type = message.readUInt16BE(at);
    const ttl = message.readUInt32BE(at + 4);
    const length = message.readUInt16BE(at + 8);
    const data = message.subarray(at + 10, at + 10 + length);
    at += 10 + length;
    if (type === TYPES[family] && data.length === ADDRESS_BYTES[family]) {
      records.push({ address: printAddress(data), ttl });
    }
  }
  return records.length === 0 ? 'ENODATA' : records;
}

function skipName(message: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = message.readUInt8(at);
    if (length >= POINTER) return at + 2;
    if (length === 0) return at + 1;
    at += 1 + length;
  }
}

/** IPv6 addresses in the short form of RFC 5952. */
function printAddress(data: Buffer): string {
  if (data.length === ADDRESS_BYTES[4]) return data.join('.');
  const groups = Array.from({ length: 8 }, (_, group) => data.readUInt16BE(group * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
