/**
 * xxHash64 (specification: xxHash fast digest algorithm 0.1.1): balancers that hash must choose as
 * Envoy does.
 */
import { type ByteHash, type Hash64, read32, Word } from './byte-hash.ts';

export type { Hash64 } from './byte-hash.ts';

const NO_SEED: Hash64 = { high: 0, low: 0 };
const STRIPE_BYTES = 32;
const PRIME_1: Hash64 = { high: 0x9e3779b1, low: 0x85ebca87 };
const PRIME_2: Hash64 = { high: 0xc2b2ae3d, low: 0x27d4eb4f };
const PRIME_3: Hash64 = { high: 0x165667b1, low: 0x9e3779f9 };
const PRIME_4: Hash64 = { high: 0x85ebca77, low: 0xc2b2ae63 };
const PRIME_5: Hash64 = { high: 0x27d4eb2f, low: 0x165667c5 };

export class XxHash64 implements ByteHash {
  readonly state = new Word(0, 0);
  readonly #lanes = [new Word(0, 0), new Word(0, 0), new Word(0, 0), new Word(0, 0)] as const;
  readonly #input = new Word(0, 0);
  readonly #mixed = new Word(0, 0);

  hash(bytes: Uint8Array, length: number, seed = NO_SEED): void {
    const state = this.state.set(seed.high, seed.low);
    const stripes = length >= STRIPE_BYTES ? this.#hashStripes(bytes, length, seed) : 0;
    if (stripes === 0) state.add(PRIME_5);
    state.add(this.#input.set(0, length));
    this.#hashRest(bytes, stripes, length);
    state.xorShifted(33).multiply(PRIME_2).xorShifted(29).multiply(PRIME_3).xorShifted(32);
  }

  /** Mixes all whole stripes into the state; gives how many bytes they are. */
  #hashStripes(bytes: Uint8Array, length: number, { high, low }: Hash64): number {
    const [first, second, third, fourth] = this.#lanes;
    const { state } = this;
    first.set(high, low).add(PRIME_1).add(PRIME_2);
    second.set(high, low).add(PRIME_2);
    third.set(high, low);
    fourth.set(high, low).subtract(PRIME_1);
    let at = 0;
    for (; at + STRIPE_BYTES <= length; at += STRIPE_BYTES) {
      this.#round(first, bytes, at);
      this.#round(second, bytes, at + 8);
      this.#round(third, bytes, at + 16);
      this.#round(fourth, bytes, at + 24);
    }
    const mixed = this.#mixed;
    state.set(first.high, first.low).rotateLeft(1);
    state.add(mixed.set(second.high, second.low).rotateLeft(7));
    state.add(mixed.set(third.high, third.low).rotateLeft(12));
    state.add(mixed.set(fourth.high, fourth.low).rotateLeft(18));
    for (const lane of this.#lanes) {
      mixed.set(lane.high, lane.low).multiply(PRIME_2).rotateLeft(31).multiply(PRIME_1);
      state.xor(mixed).multiply(PRIME_1).add(PRIME_4);
    }
    return at;
  }

  #round(lane: Word, bytes: Uint8Array, at: number): void {
    lane.add(this.#input.read(bytes, at).multiply(PRIME_2)).rotateLeft(31).multiply(PRIME_1);
  }

  #hashRest(bytes: Uint8Array, start: number, length: number): void {
    const { state } = this;
    const input = this.#input;
    let at = start;
    for (; at + 8 <= length; at += 8) {
      state.xor(input.read(bytes, at).multiply(PRIME_2).rotateLeft(31).multiply(PRIME_1));
      state.rotateLeft(27).multiply(PRIME_1).add(PRIME_4);
    }
    if (at + 4 <= length) {
      state.xor(input.set(0, read32(bytes, at)).multiply(PRIME_1));
      state.rotateLeft(23).multiply(PRIME_2).add(PRIME_3);
      at += 4;
    }
    for (; at < length; at++) {
      state.xor(input.set(0, bytes[at] as number).multiply(PRIME_5));
      state.rotateLeft(11).multiply(PRIME_1);
    }
  }
}

/** Longer texts are copied into bytes of their own. */
const COPIED_MAX = 256;
const hasher = new XxHash64();
const copy = Buffer.allocUnsafeSlow(COPIED_MAX);

/** Hashes text with one character per byte. */
export function xxHash64(text: string, seed: Hash64 = NO_SEED): Hash64 {
  const { length } = text;
  if (length > COPIED_MAX) {
    hasher.hash(Buffer.from(text, 'latin1'), length, seed);
  } else {
    for (let at = 0; at < length; at++) copy[at] = text.charCodeAt(at);
    hasher.hash(copy, length, seed);
  }
  const { high, low } = hasher.state;
  return { high: high >>> 0, low: low >>> 0 };
}

/** Hashes some texts together: the hash of each is the seed of the next. */
export function xxHash64OfAll(texts: readonly string[]): Hash64 {
  let hash = NO_SEED;
  for (const text of texts) hash = xxHash64(text, hash);
  return hash;
}
