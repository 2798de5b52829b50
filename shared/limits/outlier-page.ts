/**
 * Counts of each host's answers that all workers add to: one page of shared memory, one slot per
 * host.
 *
 * A slot is eight 32-bit numbers: answers in a row of each consecutive kind, then requests and
 * successes of the interval, of the host itself and of this side's attempts to reach it. Slots are
 * given out by the supervisor; a host without a slot is not watched.
 */
import { createMemoryFile, mapSharedMemory } from '../posix/shared-memory.ts';

export const OUTLIER_SLOT = {
  consecutive_5xx: 0,
  consecutive_gateway_failure: 1,
  consecutive_local_origin_failure: 2,
  total: 3,
  success: 4,
  localTotal: 5,
  localSuccess: 6,
} as const;

const SLOT_NUMBERS = 8;
export const OUTLIER_SLOTS_MAX = 1 << 17;
const PAGE_BYTES = OUTLIER_SLOTS_MAX * SLOT_NUMBERS * 4;

/** Memory that nobody touched costs nothing. */
export function createOutlierPage(): number {
  return createMemoryFile('sluice-outliers', PAGE_BYTES);
}

export class OutlierPage {
  readonly #numbers: Int32Array;

  constructor(fd: number) {
    this.#numbers = new Int32Array(mapSharedMemory(fd, PAGE_BYTES));
  }

  /** Returns the number before. */
  add(slot: number, offset: number): number {
    return Atomics.add(this.#numbers, slot * SLOT_NUMBERS + offset, 1);
  }

  clear(slot: number, offset: number): void {
    Atomics.store(this.#numbers, slot * SLOT_NUMBERS + offset, 0);
  }

  /** Takes what was counted away. */
  take(slot: number, offset: number): number {
    return Atomics.exchange(this.#numbers, slot * SLOT_NUMBERS + offset, 0);
  }
}
