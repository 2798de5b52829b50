/**
 * When an answer is refused. A control plane that sends what was refused again at once would be
 * answered hundreds of times a second: after a few refusals in a row each waits longer.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';

const FREE_REFUSALS = 3;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 10_000;

export class RefusalPace {
  readonly #clock: Clock;
  #inARow = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `answer` now, or later where refusals follow each other; the last one counts. */
  pace(isRefusal: boolean, answer: () => void): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#inARow = isRefusal ? this.#inARow + 1 : 0;
    const extra = this.#inARow - FREE_REFUSALS;
    if (extra <= 0) return answer();
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(extra - 1, 10));
    this.#timer = this.#clock.after(waitMs, answer);
  }

  close(): void {
    this.#timer?.cancel();
  }
}
