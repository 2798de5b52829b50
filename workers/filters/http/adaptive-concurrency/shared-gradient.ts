/** What all workers know together of one gradient controller: numbers in shared memory. */
import type { SharedCount } from '../../../loop/shared-count.ts';
import type { BucketState } from '../../common/token-bucket.ts';
import type { FilterContext } from '../../filter-context.ts';

/** A number; 0 until somebody sets it. */
export class SharedNumber {
  readonly #state: BucketState;

  constructor(state: BucketState) {
    this.#state = state;
  }

  get value(): number {
    return this.#state.load();
  }

  set(value: number): void {
    while (!this.#state.exchange(this.#state.load(), value));
  }

  /** The sum. */
  add(change: number): number {
    for (;;) {
      const before = this.#state.load();
      if (this.#state.exchange(before, before + change)) return before + change;
    }
  }

  /** False, and nothing is set, where it is no longer `expected`. */
  replace(expected: number, next: number): boolean {
    return this.#state.exchange(expected, next);
  }
}

const NUMBERS = [
  'limit',
  /** The limit before the least latency is being measured; 0: it is not. */
  'deferredLimit',
  'minRttMs',
  /** Moments: measuring began, the limit was last changed, measuring begins again. */
  'measureSinceMs',
  'updatedMs',
  'measureAtMs',
  /** Latencies that were measured since then. */
  'measured',
  /** How often the limit was the least one in succession. */
  'timesAtLeast',
  /** Of the last change. */
  'burst',
  'gradient',
  'sampleRttMs',
] as const;

export interface SharedGradient extends Readonly<Record<(typeof NUMBERS)[number], SharedNumber>> {
  readonly underWay: SharedCount;
}

export function sharedGradient(name: string, context: FilterContext): SharedGradient {
  const numbers = Object.fromEntries(
    NUMBERS.map((number) => [
      number,
      new SharedNumber(context.sharedState(`gradient ${name} ${number}`)),
    ]),
  ) as Record<(typeof NUMBERS)[number], SharedNumber>;
  return { ...numbers, underWay: context.sharedCount(`gradient ${name}`) };
}
