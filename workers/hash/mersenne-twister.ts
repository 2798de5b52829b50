/**
 * MT19937: a sequence of random numbers that a seed of 32 bits decides, the same on every machine.
 */
const SIZE = 624;
const SHIFT = 397;

export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE);
  #next = SIZE;

  constructor(seed: number) {
    const state = this.#state;
    state[0] = seed;
    for (let at = 1; at < SIZE; at++) {
      const before = state[at - 1] ?? 0;
      state[at] = Math.imul(before ^ (before >>> 30), 1_812_433_253) + at;
    }
  }

  /** From 0 to 2^32 - 1. */
  next(): number {
    if (this.#next === SIZE) this.#twist();
    let value = this.#state[this.#next++] ?? 0;
    value ^= value >>> 11;
    value ^= (value << 7) & 0x9d2c5680;
    value ^= (value << 15) & 0xefc60000;
    value ^= value >>> 18;
    return value >>> 0;
  }

  /** From 0, below the limit, each equally likely: what does not divide evenly is drawn again. */
  below(limit: number): number {
    const width = Math.floor(0xffff_ffff / limit);
    let value = limit;
    while (value >= limit) value = Math.floor(this.next() / width);
    return value;
  }

  #twist(): void {
    const state = this.#state;
    for (let at = 0; at < SIZE; at++) {
      const high = (state[at] ?? 0) & 0x8000_0000;
      const mixed = high | ((state[(at + 1) % SIZE] ?? 0) & 0x7fff_ffff);
      const odd = (mixed & 1) === 0 ? 0 : 0x9908_b0df;
      state[at] = (state[(at + SHIFT) % SIZE] ?? 0) ^ (mixed >>> 1) ^ odd;
    }
    this.#next = 0;
  }
}
