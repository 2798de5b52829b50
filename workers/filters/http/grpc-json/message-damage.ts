/**
 * Bytes that are no protobuf message: what Envoy's reader reads nonetheless, and its words for what is
 * wrong with the others.
 */
import { Wire } from '../../../../shared/protobuf/wire.ts';
import { TranscodeError } from './json-text.ts';

export const BROKEN_OFF = 'unexpected EOF';
const GROUP_START = 3;
const GROUP_END = 4;
const NO_LENGTH = Buffer.from([0]);

/**
 * Without the beginning of a field that has no end, and with a length of 0 where one is missing. Throws
 * TranscodeError for any other damage.
 */
export function mended(data: Buffer): Buffer {
  let at = 0;
  while (at < data.length) {
    const tag = varintAt(data, at);
    if (tag === undefined) return data.subarray(0, at);
    const wire = tag.value % 8;
    if (wire === Wire.bytes && varintAt(data, tag.end) === undefined) {
      return Buffer.concat([data.subarray(0, tag.end), NO_LENGTH]);
    }
    if (wire === GROUP_START || wire === GROUP_END) {
      throw new TranscodeError(`field number ${Math.floor(tag.value / 8)} is not a group`);
    }
    const end = endOfField(data, tag.end, wire);
    if (typeof end === 'string') throw new TranscodeError(end);
    at = end;
  }
  throw new TranscodeError(BROKEN_OFF);
}

/** Where the field's value ends, or what is wrong with it. */
function endOfField(data: Buffer, at: number, wire: number): number | string {
  if (wire === Wire.fixed64) return at + 8;
  if (wire === Wire.fixed32) return at + 4;
  if (wire !== Wire.varint && wire !== Wire.bytes) return `unknown wire type: ${wire}`;
  const read = varintAt(data, at);
  if (read === undefined) return BROKEN_OFF;
  if (wire === Wire.varint) return read.end;
  const end = read.end + read.value;
  return end > data.length ? 'malformed length-delimited field' : end;
}

function varintAt(
  data: Buffer,
  start: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let at = start, scale = 1; at < data.length; at++, scale *= 128) {
    const byte = data[at] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
