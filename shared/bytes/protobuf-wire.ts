/**
 * The wire format of protobuf: records of a key (number and wire type) and a value. The reader checks
 * nothing but that; the writer is given values that fit.
 */

export const WIRE = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupBegin: 3,
  groupEnd: 4,
  fixed32: 5,
} as const;

const VARINT_BYTES_MAX = 10;
const NOTHING = Buffer.alloc(0);

/** Goes from record to record; the fields say what the present one is. */
export class WireReader {
  number = 0;
  wire = 0;
  /** Of a varint, as the 64 bits that it is. */
  varint = 0n;
  /** Of everything else. */
  bytes: Buffer = NOTHING;
  /** The data ended within a record, or is no records at all. */
  isDamaged = false;
  readonly #data: Buffer;
  #at = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  /** False at the end, and where nothing can be read any more. Groups are skipped. */
  next(): boolean {
    while (this.#at < this.#data.length && !this.isDamaged) {
      this.#key();
      if (this.isDamaged) return false;
      if (this.wire !== WIRE.groupBegin) return this.#value();
      this.#skipGroup();
    }
    return false;
  }

  #key(): void {
    const key = Number(this.#readVarint() & 0xffff_ffffn);
    this.number = key >>> 3;
    this.wire = key & 7;
    if (this.number === 0) this.isDamaged = true;
  }

  #value(): boolean {
    switch (this.wire) {
      case WIRE.varint:
        this.varint = this.#readVarint();
        break;
      case WIRE.fixed64:
        this.#take(8);
        break;
      case WIRE.fixed32:
        this.#take(4);
        break;
      case WIRE.bytes:
        this.#take(Number(this.#readVarint()));
        break;
      default:
        this.isDamaged = true;
    }
    return !this.isDamaged;
  }

  #skipGroup(): void {
    for (let depth = 1; depth > 0 && !this.isDamaged;) {
      this.#key();
      if (this.wire === WIRE.groupBegin) depth++;
      else if (this.wire === WIRE.groupEnd) depth--;
      else this.#value();
    }
  }

  #take(length: number): void {
    const end = this.#at + length;
    if (end > this.#data.length) {
      this.isDamaged = true;
      return;
    }
    this.bytes = this.#data.subarray(this.#at, end);
    this.#at = end;
  }

  #readVarint(): bigint {
    let low = 0;
    let value = 0n;
    for (let count = 0; count < VARINT_BYTES_MAX; count++) {
      const byte = this.#data[this.#at++];
      if (byte === undefined) break;
      // Four bytes fit into a small number; nearly all values do.
      if (count < 4) low |= (byte & 0x7f) << (7 * count);
      else value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return BigInt.asUintN(64, value | BigInt(low));
    }
    this.isDamaged = true;
    return 0n;
  }
}

export function varintBytes(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export function keyBytes(number: number, wire: number): Buffer {
  return varintBytes((BigInt(number) << 3n) | BigInt(wire));
}

/** A record of text, bytes or a message. */
export function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([keyBytes(number, WIRE.bytes), varintBytes(BigInt(bytes.length)), bytes]);
}
