/**
 * The time as the data path sees it: read once when an event of the loop begins (a read, a timer, a
 * connect) and then used by everything that happens in that event. A clock read costs 50 ns, as
 * much as parsing a header.
 */
import type { Clock } from '../../shared/process/clock.ts';

/** How far wall time may lag behind a step of the system's clock. */
const WALL_RESYNC_MS = 200;

export class LoopClock {
  readonly #clock: Clock;
  /** CLOCK_MONOTONIC in milliseconds with a fraction, as of the last `refresh`. */
  ms: number;
  #wallOffsetMs: number;
  #resyncAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.ms = clock.monotonicMs();
    this.#wallOffsetMs = clock.wallMs() - this.ms;
    this.#resyncAtMs = this.ms + WALL_RESYNC_MS;
  }

  /** Called where the loop hands control to the data path, never within it. */
  refresh(): void {
    this.ms = this.#clock.monotonicMs();
    if (this.ms < this.#resyncAtMs) return;
    this.#wallOffsetMs = this.#clock.wallMs() - this.ms;
    this.#resyncAtMs = this.ms + WALL_RESYNC_MS;
  }

  /** Unix milliseconds that belong to `ms`. */
  get wallMs(): number {
    return this.ms + this.#wallOffsetMs;
  }
}
