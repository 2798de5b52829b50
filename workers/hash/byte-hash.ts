/**
 * What the hash functions of bytes share: a 64-bit number that is changed in place by 32-bit
 * arithmetic (BigInt would cost a microsecond per multiplication), and the shape of such a
 * function.
 */

/** An unsigned 64-bit number in two halves. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** Hashes again and again without allocating; the result stands in `state` until the next call. */
export interface ByteHash {
  /** Both halves are signed: `>>> 0` makes them what they are. */
  readonly state: Hash64;
  hash(bytes: Uint8Array, length: number): void;
}

const TWO_32 = 0x1_0000_0000;

/** All operations wrap around. */
export class Word implements Hash64 {
  high: number;
  low: number;

  constructor(high: number, low: number) {
    this.high = high | 0;
    this.low = low | 0;
  }

  set(high: number, low: number): this {
    this.high = high | 0;
    this.low = low | 0;
    return this;
  }

  add(other: Hash64): this {
    const low = (this.low >>> 0) + (other.low >>> 0);
    this.high = (this.high + other.high + (low >= TWO_32 ? 1 : 0)) | 0;
    this.low = low | 0;
    return this;
  }

  subtract(other: Hash64): this {
    const low = (this.low >>> 0) - (other.low >>> 0);
    this.high = (this.high - other.high - (low < 0 ? 1 : 0)) | 0;
    this.low = low | 0;
    return this;
  }

  xor(other: Hash64): this {
    this.high ^= other.high;
    this.low ^= other.low;
    return this;
  }

  multiply(by: Hash64): this {
    const { high, low } = this;
    const a0 = low & 0xffff;
    const a1 = low >>> 16;
    const b0 = by.low & 0xffff;
    const b1 = by.low >>> 16;
    const first = (Math.imul(a1, b0) >>> 0) + (Math.imul(a0, b0) >>> 16);
    const second = (Math.imul(a0, b1) >>> 0) + (first & 0xffff);
    // Both are below 2^32: 65,535 times 65,536 at most.
    const carried = (first >>> 16) + (second >>> 16);
    this.high =
      (Math.imul(a1, b1) + carried + Math.imul(high, by.low) + Math.imul(low, by.high)) | 0;
    this.low = Math.imul(low, by.low);
    return this;
  }

  /** `bits` is from 1 to 31. */
  rotateLeft(bits: number): this {
    const { high, low } = this;
    this.high = (high << bits) | (low >>> (32 - bits));
    this.low = (low << bits) | (high >>> (32 - bits));
    return this;
  }

  /** Exclusive or with itself, moved right by `bits`. */
  xorShifted(bits: number): this {
    const { high, low } = this;
    if (bits >= 32) this.low = low ^ (high >>> (bits - 32));
    else {
      this.low = low ^ ((low >>> bits) | (high << (32 - bits)));
      this.high = high ^ (high >>> bits);
    }
    return this;
  }

  /** The eight bytes from `at` on, the lowest first. */
  read(bytes: Uint8Array, at: number): this {
    this.low = read32(bytes, at);
    this.high = read32(bytes, at + 4);
    return this;
  }
}

/** Four bytes, the lowest first, as a signed number. */
export function read32(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}
