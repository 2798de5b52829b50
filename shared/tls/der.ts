/**
 * Reads ASN.1 in its DER form as far as certificates, revocation lists and sessions need it.
 * Nothing here throws: what cannot be read is undefined, or ends a list.
 */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export interface DerElement {
  /** The place of the tag's byte. */
  readonly at: number;
  readonly tag: number;
  /** The place of the content. */
  readonly start: number;
  readonly end: number;
}

/** Lengths above this many bytes are not of this world. */
const LENGTH_BYTES_MAX = 4;
/** The tags of more than one byte, which nothing here uses. */
const LONG_TAG = 0x1f;

export function elementAt(data: Buffer, at: number, limit = data.length): DerElement | undefined {
  if (at + 2 > limit) return undefined;
  const tag = data.readUInt8(at);
  const first = data.readUInt8(at + 1);
  if ((tag & LONG_TAG) === LONG_TAG) return undefined;
  let start = at + 2;
  let length = first;
  if (first >= 0x80) {
    const bytes = first - 0x80;
    if (bytes === 0 || bytes > LENGTH_BYTES_MAX || start + bytes > limit) return undefined;
    length = data.readUIntBE(start, bytes);
    start += bytes;
  }
  const end = start + length;
  return end > limit ? undefined : { at, tag, start, end };
}

/** The elements that one holds, up to the first that cannot be read. */
export function elementsIn(
  data: Buffer,
  { start, end }: Pick<DerElement, 'start' | 'end'>,
): readonly DerElement[] {
  const found: DerElement[] = [];
  let at = start;
  while (at < end) {
    const element = elementAt(data, at, end);
    if (element === undefined) break;
    found.push(element);
    at = element.end;
  }
  return found;
}

/** With its tag and length. */
export function wholeOf(data: Buffer, { at, end }: DerElement): Buffer {
  return data.subarray(at, end);
}

/** Numbers between dots. */
export function readOid(data: Buffer, { start, end }: DerElement): string {
  const arcs: bigint[] = [];
  let arc = 0n;
  for (let at = start; at < end; at += 1) {
    const byte = data.readUInt8(at);
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) {
      const root = arc < 40n ? 0n : arc < 80n ? 1n : 2n;
      arcs.push(root, arc - root * 40n);
    } else {
      arcs.push(arc);
    }
    arc = 0n;
  }
  return arcs.join('.');
}

const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z|([+-]\d{4}))$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
/** Two digits from here on are years of the last century. */
const LAST_CENTURY = 50;

/** Unix milliseconds; NaN for what is no time, such as the 31st of February. */
export function readTime(data: Buffer, { tag, start, end }: DerElement): number {
  const text = data.toString('latin1', start, end);
  const parts = (tag === TAG.utcTime ? UTC_TIME : GENERALIZED_TIME).exec(text);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second, offset = '+0000'] = parts;
  const given = Number(year);
  const dayMs = readDay(tag === TAG.utcTime ? fullYear(given) : given, Number(month), Number(day));
  const timeMs = readDayTime(Number(hour), Number(minute), Number(second));
  const offsetMs = readDayTime(Number(offset.slice(1, 3)), Number(offset.slice(3)), 0);
  return dayMs + timeMs - (offset.startsWith('-') ? -offsetMs : offsetMs);
}

function readDayTime(hour: number, minute: number, second: number): number {
  const isTime = hour < 24 && minute < 60 && second < 60;
  return isTime ? ((hour * 60 + minute) * 60 + second) * 1000 : Number.NaN;
}

function fullYear(twoDigits: number): number {
  return twoDigits < LAST_CENTURY ? 2000 + twoDigits : 1900 + twoDigits;
}

function readDay(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay ? date.getTime() : Number.NaN;
}
