/**
 * When what changed goes to the workers: at the end of the turn of the loop, unless changes come in
 * a stream. Then those of some time travel together, since each message wakes every worker in the
 * middle of its requests, and what goes and comes back meanwhile costs no connection. What is sent
 * is its owner's matter.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';

/** In a stream of changes; an update is in force in all workers within 50 ms. */
const INTERVAL_MS = 25;
/** So many follow each other at once before that; one more for each interval that goes by. */
const BURST = 16;

export class FlushPace {
  readonly #clock: Clock;
  readonly #flush: () => void;
  #isPlanned = false;
  #timer: Timer | undefined;
  #burst = BURST;
  #lastMs: number;

  constructor(clock: Clock, flush: () => void) {
    this.#clock = clock;
    this.#flush = flush;
    this.#lastMs = clock.monotonicMs();
  }

  /** Something must not wait: a flush at the end of this turn. */
  soon(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#flush();
    });
  }

  /** Something may wait for more of its kind. */
  paced(): void {
    if (this.#isPlanned || this.#timer !== undefined) return;
    const passedMs = this.#clock.monotonicMs() - this.#lastMs;
    if (passedMs >= INTERVAL_MS || this.#burst > 0) {
      this.soon();
      return;
    }
    this.#timer = this.#clock.after(Math.ceil(INTERVAL_MS - passedMs), () => {
      this.#timer = undefined;
      this.#flush();
    });
  }

  /** Everything that waited was sent, for whatever reason. */
  flushed(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const gained = Math.floor((nowMs - this.#lastMs) / INTERVAL_MS);
    this.#burst = Math.min(BURST, Math.max(0, this.#burst - 1 + gained));
    this.#lastMs = nowMs;
  }

  close(): void {
    this.#timer?.cancel();
  }
}
