/**
 * Spreads work over turns of the loop: what a thousand timers or answers of one moment ask for is
 * done a little in each turn, so that whatever else the loop has to do comes in between.
 */

/** A lookup takes some 50 microseconds at each of its ends. */
const TASKS_PER_TURN = 16;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isPlanned = false;

  /** Resolves when it is this one's turn, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      for (const resolve of this.#waiting.splice(0, TASKS_PER_TURN)) resolve();
      if (this.#waiting.length > 0) this.#plan();
    });
  }
}
