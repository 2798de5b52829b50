/**
 * Reads protobuf messages, in either process. As Envoy's reader: unknown fields, and known ones of
 * another wire type, are skipped, texts are UTF-8, and a message that breaks off is none.
 */
import { isUtf8 } from 'node:buffer';
import { Wire } from './wire.ts';

/** Thrown for bytes that are no message; `readMessage` catches it. */
class WrongMessage extends Error {}

const GROUPS_MAX = 100;
const VARINT_BYTES_MAX = 10;
/** The bytes of a varint that hold its lowest 32 bits: four of them are in the fifth byte. */
const LOW_BYTES = 5;
const LOW_BITS_OF_FIFTH = 4;
const TAG_MAX = 2 ** 32;
const NOTHING = Buffer.alloc(0);

/** One field; valid during the call only. Values of another type than the asked are undefined. */
export class ProtoField {
  number = 0;
  wire = 0;
  /** The lowest 32 bits of a varint, signed, and those above. */
  low = 0;
  high = 0;
  #integer = 0;
  #bytes: Buffer = NOTHING;

  set(number: number, wire: number, integer: number, bytes: Buffer): void {
    this.number = number;
    this.wire = wire;
    this.#integer = integer;
    this.#bytes = bytes;
  }

  /** As unsigned; what has more than 53 bits is not exact. */
  integer(): number | undefined {
    return this.wire === Wire.varint ? this.#integer : undefined;
  }

  /** All 64 bits. */
  uint64(): bigint | undefined {
    if (this.wire !== Wire.varint) return undefined;
    return (BigInt(this.high >>> 0) << 32n) | BigInt(this.low >>> 0);
  }

  /** Reads an int32 or an enum: what does not fit is cut off, as protobuf does. */
  int32(): number | undefined {
    return this.wire === Wire.varint ? this.low : undefined;
  }

  double(): number | undefined {
    return this.wire === Wire.fixed64 ? this.#bytes.readDoubleLE(0) : undefined;
  }

  /** What has a fixed size, as it lies there. */
  fixed(): Buffer | undefined {
    const isFixed = this.wire === Wire.fixed64 || this.wire === Wire.fixed32;
    return isFixed ? this.#bytes : undefined;
  }

  /** A view of the message. */
  bytes(): Buffer | undefined {
    return this.wire === Wire.bytes ? this.#bytes : undefined;
  }

  /** One character per byte; valid UTF-8. */
  text(): string | undefined {
    if (this.wire !== Wire.bytes) return undefined;
    if (!isUtf8(this.#bytes)) throw new WrongMessage();
    return this.#bytes.toString('latin1');
  }

  utf8(): string | undefined {
    if (this.wire !== Wire.bytes) return undefined;
    if (!isUtf8(this.#bytes)) throw new WrongMessage();
    return this.#bytes.toString('utf8');
  }

  /** Visits the fields of a message inside. */
  message(visit: (field: ProtoField) => void): void {
    if (this.wire === Wire.bytes) visitFields(this.#bytes, visit);
  }

  /** The message cannot be what it says. */
  refuse(): never {
    throw new WrongMessage();
  }
}

/** Undefined when the bytes are no such message; what was visited before stays with the caller. */
export function readMessage<Message>(
  bytes: Buffer,
  read: (bytes: Buffer) => Message,
): Message | undefined {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof WrongMessage) return undefined;
    throw error;
  }
}

/** Within `readMessage`. */
export function visitFields(bytes: Buffer, visit: (field: ProtoField) => void): void {
  const cursor = new Cursor(bytes);
  const field = new ProtoField();
  while (cursor.at < bytes.length) {
    cursor.next(field);
    if (field.wire !== Wire.groupStart) visit(field);
  }
}

class Cursor {
  readonly #bytes: Buffer;
  /** The lowest bits of the last varint. */
  #low = 0;
  #high = 0;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(field: ProtoField): void {
    const tag = this.#varint();
    const wire = tag % 8;
    const number = Math.floor(tag / 8);
    if (number === 0 || tag >= TAG_MAX) throw new WrongMessage();
    switch (wire) {
      case Wire.varint:
        field.set(number, wire, this.#varint(), NOTHING);
        field.low = this.#low;
        field.high = this.#high;
        return;
      case Wire.fixed64:
        return field.set(number, wire, 0, this.#take(8));
      case Wire.fixed32:
        return field.set(number, wire, 0, this.#take(4));
      case Wire.bytes:
        return field.set(number, wire, 0, this.#take(this.#varint()));
      case Wire.groupStart:
        this.#skipGroup(number);
        return field.set(number, wire, 0, NOTHING);
      default:
        throw new WrongMessage();
    }
  }

  /** To the end of the group, whatever is in it. */
  #skipGroup(outermost: number): void {
    const open = [outermost];
    const field = new ProtoField();
    while (open.length > 0) {
      const start = this.at;
      const tag = this.#varint();
      if (tag >= TAG_MAX) throw new WrongMessage();
      const number = Math.floor(tag / 8);
      if (tag % 8 === Wire.groupEnd) {
        if (open.pop() !== number) throw new WrongMessage();
      } else if (tag % 8 === Wire.groupStart) {
        if (open.push(number) > GROUPS_MAX) throw new WrongMessage();
      } else {
        this.at = start;
        this.next(field);
      }
    }
  }

  /** The next `count` bytes, which are behind now. */
  #take(count: number): Buffer {
    const { at } = this;
    if (count > this.#bytes.length - at) throw new WrongMessage();
    this.at = at + count;
    return this.#bytes.subarray(at, this.at);
  }

  #varint(): number {
    this.#low = 0;
    this.#high = 0;
    let value = 0;
    let scale = 1;
    for (let count = 1; count <= VARINT_BYTES_MAX; count++) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) break;
      if (count === VARINT_BYTES_MAX && byte > 1) break;
      const bits = byte & 0x7f;
      if (count <= LOW_BYTES) this.#low |= bits << (7 * (count - 1));
      if (count === LOW_BYTES) this.#high = bits >> LOW_BITS_OF_FIFTH;
      else if (count > LOW_BYTES) this.#high |= bits << (7 * (count - 1) - 32);
      value += bits * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new WrongMessage();
  }
}
