/**
 * What `/contention` shows with `--enable-mutex-tracing`. There are no mutexes here; what the
 * supervisor waits for is its workers' replies, so those waits are counted, in nanoseconds.
 */
import type { Clock } from '../shared/clock.ts';

export interface ContentionCounts {
  readonly waits: number;
  readonly lastWaitNs: bigint;
  readonly allWaitsNs: bigint;
}

export class ContentionTracer {
  readonly #clock: Clock;
  #waits = 0;
  #lastWaitNs = 0n;
  #allWaitsNs = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts how long the work takes; its result or failure is handed on. */
  async trace<Result>(work: () => Promise<Result>): Promise<Result> {
    const beganNs = this.#clock.monotonicNs();
    try {
      return await work();
    } finally {
      this.#lastWaitNs = this.#clock.monotonicNs() - beganNs;
      this.#allWaitsNs += this.#lastWaitNs;
      this.#waits++;
    }
  }

  counts(): ContentionCounts {
    return {
      waits: this.#waits,
      lastWaitNs: this.#lastWaitNs,
      allWaitsNs: this.#allWaitsNs,
    };
  }
}
