/** What all workers know together of one gradient controller: numbers in shared memory. */
import type { SharedCount } from '../../../loop/shared-count.ts';
import type { BucketState } from '../../common/token-bucket.ts';
import type { FilterContext } from '../../filter-context.ts';

/** A number; 0 until somebody sets it. */
class SharedNumber {
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

export interface SharedGradient {
  readonly limit: SharedNumber;
  /** The limit before the least latency is being measured; 0: it is not. */
  readonly deferredLimit: SharedNumber;
  readonly minRttMs: SharedNumber;
  /** Moments: measuring began, the limit was last changed, measuring begins again. */
  readonly measureSinceMs: SharedNumber;
  readonly updatedMs: SharedNumber;
  readonly measureAtMs: SharedNumber;
  /** Latencies that were measured since then. */
  readonly measured: SharedNumber;
  /** How often the limit was the least one in succession. */
  readonly timesAtLeast: SharedNumber;
  /** Of the last change. */
  readonly burst: SharedNumber;
  readonly gradient: SharedNumber;
  readonly sampleRttMs: SharedNumber;
  readonly underWay: SharedCount;
}

export function sharedGradient(name: string, context: FilterContext): SharedGradient {
  const number = (of: string): SharedNumber =>
    new SharedNumber(context.sharedState(`gradient ${name} ${of}`));
  return {
    limit: number('limit'),
    deferredLimit: number('deferred limit'),
    minRttMs: number('least latency'),
    measureSinceMs: number('measuring since'),
    updatedMs: number('updated'),
    measureAtMs: number('measuring at'),
    measured: number('measured'),
    timesAtLeast: number('times at least'),
    burst: number('burst'),
    gradient: number('gradient'),
    sampleRttMs: number('latency'),
    underWay: context.sharedCount(`gradient ${name}`),
  };
}
