/**
 * The token buckets of rate limits that all workers take from: one page of shared memory.
 *
 * A slot is two 64-bit numbers: the hash of the limit that it is for, written once by the worker
 * that first needs it, and the moment at which the bucket was last empty, as CLOCK_MONOTONIC
 * milliseconds (the bits of a double; 0 for a bucket that was never touched). That moment says both
 * how many tokens there are and when more come, so one compare-exchange takes a token. Slots are
 * never given back: a limit that is configured again goes on where it was. Limits on numbers of
 * connections have their slots from here, too, and count in the breaker page.
 */
import { createHash } from 'node:crypto';
import { createMemoryFile, mapSharedMemory } from '../posix/shared-memory.ts';

const SLOT_NUMBERS = 2;
export const RATE_LIMIT_SLOTS_MAX = 1 << 16;
/** A name looks at so many slots for its own or a free one: a full page costs nobody more. */
const PROBES_MAX = 64;
const PAGE_BYTES = RATE_LIMIT_SLOTS_MAX * SLOT_NUMBERS * 8;

/** Memory that nobody touched costs nothing. */
export function createRateLimitPage(): number {
  return createMemoryFile('sluice-rate-limits', PAGE_BYTES);
}

export class RateLimitPage {
  readonly #numbers: BigInt64Array;
  /** For seeing the bits of a double. */
  readonly #double = new Float64Array(1);
  readonly #bits = new BigInt64Array(this.#double.buffer);

  private constructor(numbers: BigInt64Array) {
    this.#numbers = numbers;
  }

  static map(fd: number): RateLimitPage {
    return new RateLimitPage(new BigInt64Array(mapSharedMemory(fd, PAGE_BYTES)));
  }

  /**
   * The slot of a limit, the same for every worker; undefined when other limits have all of those
   * where it might be.
   */
  slotOf(limit: string): number | undefined {
    const hash = createHash('sha256').update(limit).digest().readBigInt64LE() || 1n;
    const first = Number(BigInt.asUintN(16, hash));
    for (let step = 0; step < PROBES_MAX; step++) {
      const slot = (first + step) % RATE_LIMIT_SLOTS_MAX;
      const owner = Atomics.compareExchange(this.#numbers, slot * SLOT_NUMBERS, 0n, hash);
      if (owner === 0n || owner === hash) return slot;
    }
    return undefined;
  }

  /** 0 for a bucket that was never touched. */
  load(slot: number): number {
    this.#bits[0] = Atomics.load(this.#numbers, slot * SLOT_NUMBERS + 1);
    return this.#double[0] ?? 0;
  }

  /** Sets the moment unless another worker did since `expected` was loaded; says whether it did. */
  exchange(slot: number, expected: number, next: number): boolean {
    const before = this.#bitsOf(expected);
    const after = this.#bitsOf(next);
    return (
      Atomics.compareExchange(this.#numbers, slot * SLOT_NUMBERS + 1, before, after) === before
    );
  }

  #bitsOf(value: number): bigint {
    this.#double[0] = value;
    return this.#bits[0] ?? 0n;
  }
}
