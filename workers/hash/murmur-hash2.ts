/** MurmurHash2, 64-bit version A, with the seed that libstdc++ uses. Only rings are made of it. */
import { type ByteHash, type Hash64, Word } from './byte-hash.ts';

const SEED: Hash64 = { high: 0, low: 0xc70f6907 };
const MULTIPLIER: Hash64 = { high: 0xc6a4a793, low: 0x5bd1e995 };

export class MurmurHash2 implements ByteHash {
  readonly state = new Word(0, 0);
  readonly #input = new Word(0, 0);

  hash(bytes: Uint8Array, length: number): void {
    const { state } = this;
    const input = this.#input;
    const whole = length & ~7;
    state.set(SEED.high, SEED.low);
    state.xor(input.set(0, length).multiply(MULTIPLIER));
    for (let at = 0; at < whole; at += 8) {
      input.read(bytes, at).multiply(MULTIPLIER).xorShifted(47).multiply(MULTIPLIER);
      state.xor(input).multiply(MULTIPLIER);
    }
    if (whole < length) {
      input.set(0, 0);
      for (let at = whole; at < length; at++) {
        const byte = bytes[at] as number;
        const bits = 8 * (at - whole);
        if (bits < 32) input.low |= byte << bits;
        else input.high |= byte << (bits - 32);
      }
      state.xor(input).multiply(MULTIPLIER);
    }
    state.xorShifted(47).multiply(MULTIPLIER).xorShifted(47);
  }
}
