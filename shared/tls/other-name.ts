/**
 * Reads names of a kind of their own in certificates (RFC 5280, 4.2.1.6), as text that is matched.
 *
 *   OtherName ::= SEQUENCE { type-id OBJECT IDENTIFIER, value [0] EXPLICIT ANY }
 */
import { type DerElement, elementAt, elementsIn, readOid, TAG, wholeOf } from './der.ts';

export interface OtherName {
  readonly oid: string;
  /** A byte in each character; empty for a value that is no text. */
  readonly value: string;
}

const EXPLICIT = 0xa0;
/** Longer identifiers are no text, as in Envoy. */
const OID_TEXT_MAX = 255;
/** Bytes of a number whose digits are still written. */
const INTEGER_BYTES_MAX = 128;

const BIT_STRING = 3;
const ENUMERATED = 10;
const UNIVERSAL = 28;
const BMP = 30;
/** Octet, UTF-8, printable, teletex, IA5, visible and general strings, and times. */
const BYTES: ReadonlySet<number> = new Set([4, 12, 19, 20, 22, 23, 24, 26, 27]);

/** Undefined for what is malformed; `data` holds the name's parts in `element`. */
export function readOtherName(data: Buffer, element: DerElement): OtherName | undefined {
  const [type, outer, more] = elementsIn(data, element);
  if (type?.tag !== TAG.oid || outer?.tag !== EXPLICIT || more !== undefined) return undefined;
  const value = elementAt(data, outer.start, outer.end);
  if (value?.end !== outer.end || outer.end !== element.end) return undefined;
  return { oid: readOid(data, type), value: valueText(data, value) };
}

function valueText(data: Buffer, element: DerElement): string {
  const { tag, start, end } = element;
  if (BYTES.has(tag)) return data.toString('latin1', start, end);
  switch (tag) {
    case TAG.boolean:
      return end > start && data[start] !== 0 ? 'true' : 'false';
    case TAG.integer:
    case ENUMERATED:
      return integerText(data.subarray(start, end));
    case BIT_STRING:
      // The first byte counts the bits that the last one does not use.
      return data.toString('latin1', Math.min(start + 1, end), end);
    case TAG.oid: {
      const text = readOid(data, element);
      return text.length > OID_TEXT_MAX ? '' : text;
    }
    case BMP:
      return wideText(data.subarray(start, end), 2);
    case UNIVERSAL:
      return wideText(data.subarray(start, end), 4);
    case TAG.sequence:
    case TAG.set:
      return wholeOf(data, element).toString('latin1');
    default:
      return '';
  }
}

/** In decimals; two's complement. */
function integerText(bytes: Buffer): string {
  if (bytes.length === 0 || bytes.length > INTEGER_BYTES_MAX) return '';
  return String(BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`)));
}

/** As UTF-8; empty for what is no text. */
function wideText(bytes: Buffer, width: 2 | 4): string {
  if (bytes.length % width !== 0) return '';
  let text = '';
  for (let at = 0; at < bytes.length; at += width) {
    const point = bytes.readUIntBE(at, width);
    if (point > 0x10_ffff || (point >= 0xd800 && point < 0xe000)) return '';
    text += String.fromCodePoint(point);
  }
  return Buffer.from(text).toString('latin1');
}
