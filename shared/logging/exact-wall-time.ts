/** Wall time finer than a millisecond, for log layouts that ask for it. */
import type { Clock } from '../process/clock.ts';

/** Beyond this the wall clock was set, and the anchor is taken again. */
const maxDriftMs = 2;

export class ExactWallTime {
  readonly #clock: Clock;
  #anchorWallMs = 0;
  #anchorNs = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Unix milliseconds and the nanoseconds since that millisecond began. */
  now(): { ms: number; subMsNs: number } {
    const wallMs = this.#clock.wallMs();
    const monotonicNs = this.#clock.monotonicNs();
    let passedNs = monotonicNs - this.#anchorNs;
    if (Math.abs(this.#anchorWallMs + Number(passedNs) / 1e6 - wallMs) > maxDriftMs) {
      this.#anchorWallMs = wallMs;
      this.#anchorNs = monotonicNs;
      passedNs = 0n;
    }
    return {
      ms: this.#anchorWallMs + Number(passedNs / 1_000_000n),
      subMsNs: Number(passedNs % 1_000_000n),
    };
  }
}
