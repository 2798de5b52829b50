/**
 * xxHash64 (specification: xxHash fast digest algorithm 0.1.1) in 32-bit arithmetic: balancers that
 * hash must choose as the reference does, and BigInt would cost a microsecond per multiplication.
 */

/** An unsigned 64-bit number in two halves. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** Hashes text with one character per byte. */
export function xxHash64(text: string, seed: Hash64 = NO_SEED): Hash64 {
  const state = new Word(seed.high, seed.low);
  const stripes = text.length >= STRIPE_BYTES ? hashStripes(text, seed, state) : 0;
  if (stripes === 0) state.add(PRIME_5);
  state.add({ high: 0, low: text.length });
  hashRest(text, stripes, state);
  avalanche(state);
  return { high: state.high >>> 0, low: state.low >>> 0 };
}

/** Hashes some texts together: the hash of each is the seed of the next. */
export function xxHash64OfAll(texts: readonly string[]): Hash64 {
  let hash = NO_SEED;
  for (const text of texts) hash = xxHash64(text, hash);
  return hash;
}

const NO_SEED: Hash64 = { high: 0, low: 0 };
const STRIPE_BYTES = 32;
const PRIME_1: Hash64 = { high: 0x9e3779b1, low: 0x85ebca87 };
const PRIME_2: Hash64 = { high: 0xc2b2ae3d, low: 0x27d4eb4f };
const PRIME_3: Hash64 = { high: 0x165667b1, low: 0x9e3779f9 };
const PRIME_4: Hash64 = { high: 0x85ebca77, low: 0xc2b2ae63 };
const PRIME_5: Hash64 = { high: 0x27d4eb2f, low: 0x165667c5 };
const TWO_32 = 0x1_0000_0000;

/** A 64-bit number that is changed in place; all operations wrap around. */
class Word implements Hash64 {
  high: number;
  low: number;

  constructor(high: number, low: number) {
    this.high = high | 0;
    this.low = low | 0;
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
    const a0 = this.low & 0xffff;
    const a1 = this.low >>> 16;
    const b0 = by.low & 0xffff;
    const b1 = by.low >>> 16;
    const low = a0 * b0;
    const cross = a1 * b0 + (low >>> 16);
    const middle = a0 * b1 + (cross % 0x1_0000);
    const carried = a1 * b1 + Math.floor(cross / 0x1_0000) + Math.floor(middle / 0x1_0000);
    this.high = (carried + Math.imul(this.high, by.low) + Math.imul(this.low, by.high)) | 0;
    this.low = ((middle % 0x1_0000) << 16) | (low & 0xffff);
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
  xorShifted(bits: number): void {
    const { high, low } = this;
    if (bits >= 32) this.low = low ^ (high >>> (bits - 32));
    else {
      this.low = low ^ ((low >>> bits) | (high << (32 - bits)));
      this.high = high ^ (high >>> bits);
    }
  }
}

/** Mixes all whole stripes into `state`; gives how many bytes they are. */
function hashStripes(text: string, { high, low }: Hash64, state: Word): number {
  const lanes = [
    new Word(high, low).add(PRIME_1).add(PRIME_2),
    new Word(high, low).add(PRIME_2),
    new Word(high, low),
    new Word(high, low).subtract(PRIME_1),
  ] as const;
  let at = 0;
  for (; at + STRIPE_BYTES <= text.length; at += STRIPE_BYTES) {
    lanes.forEach((lane, position) => round(lane, read64(text, at + 8 * position)));
  }
  const [first, second, third, fourth] = lanes;
  const rotated = (lane: Word, bits: number): Word =>
    new Word(lane.high, lane.low).rotateLeft(bits);
  const sum = rotated(first, 1).add(rotated(second, 7));
  sum.add(rotated(third, 12)).add(rotated(fourth, 18));
  state.high = sum.high;
  state.low = sum.low;
  for (const lane of lanes) {
    const mixed = round(new Word(0, 0), lane);
    state.xor(mixed).multiply(PRIME_1).add(PRIME_4);
  }
  return at;
}

function hashRest(text: string, start: number, state: Word): void {
  let at = start;
  for (; at + 8 <= text.length; at += 8) {
    state.xor(round(new Word(0, 0), read64(text, at)));
    state.rotateLeft(27).multiply(PRIME_1).add(PRIME_4);
  }
  if (at + 4 <= text.length) {
    state.xor(new Word(0, read32(text, at)).multiply(PRIME_1));
    state.rotateLeft(23).multiply(PRIME_2).add(PRIME_3);
    at += 4;
  }
  for (; at < text.length; at++) {
    state.xor(new Word(0, text.charCodeAt(at) & 0xff).multiply(PRIME_5));
    state.rotateLeft(11).multiply(PRIME_1);
  }
}

function avalanche(state: Word): void {
  state.xorShifted(33);
  state.multiply(PRIME_2);
  state.xorShifted(29);
  state.multiply(PRIME_3);
  state.xorShifted(32);
}

function round(lane: Word, input: Word): Word {
  const scaled = new Word(input.high, input.low).multiply(PRIME_2);
  // A rotation by 31.
  return lane.add(scaled).rotateLeft(31).multiply(PRIME_1);
}

function read32(text: string, at: number): number {
  return (
    (text.charCodeAt(at) & 0xff) |
    ((text.charCodeAt(at + 1) & 0xff) << 8) |
    ((text.charCodeAt(at + 2) & 0xff) << 16) |
    ((text.charCodeAt(at + 3) & 0xff) << 24)
  );
}

function read64(text: string, at: number): Word {
  return new Word(read32(text, at + 4), read32(text, at));
}
