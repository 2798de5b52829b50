/**
 * What `/contention` shows with `--enable-mutex-tracing`. There are no mutexes here; what the
 * supervisor waits for is a reply of a worker and the thread that matches filters, so those waits
 * are counted, in nanoseconds. Pages shared with workers are read and written without waiting.
 */
import type { Clock } from '../../shared/process/clock.ts';

export interface ContentionCounts {
  readonly waits: number;
  readonly lastWaitNs: bigint;
  readonly allWaitsNs: bigint;
}

/** Hands on what the work gives, and counts how long it took. */
export type WaitTracer = <Result>(work: () => Promise<Result>) => Promise<Result>;

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
