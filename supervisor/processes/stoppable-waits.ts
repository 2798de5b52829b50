/** Waits of a part that end at once when that part is stopped. */
import type { Clock, Timer } from '../../shared/process/clock.ts';

export class StoppableWaits {
  readonly #clock: Clock;
  readonly #waits = new Set<() => void>();
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
    for (const wake of this.#waits) wake();
  }

  /** Resolves after the time, or as soon as the waits are stopped. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#waits.delete(wake);
        resolve();
      };
      const timer: Timer = this.#clock.after(delayMs, wake);
      this.#waits.add(wake);
    });
  }
}
