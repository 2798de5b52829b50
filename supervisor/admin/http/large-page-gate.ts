/**
 * Lets a few large pages be made at the same time; more wait in order, and beyond the limits they
 * are refused, so that scrapes never pile up in memory.
 */
import type { Clock, Timer } from '../../../shared/clock.ts';
import type { AdminLimits } from './admin-limits.ts';

interface Waiter {
  readonly admit: (admitted: boolean) => void;
  readonly timer: Timer;
}

export class LargePageGate {
  readonly #limits: AdminLimits;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #running = 0;

  constructor(limits: AdminLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** True: make the page, then call `leave`. False: too many wait, or it waited too long. */
  async enter(): Promise<boolean> {
    if (this.#running < this.#limits.largePages) {
      this.#running++;
      return true;
    }
    if (this.#waiting.size >= this.#limits.waitingLargePages) return false;
    return await new Promise<boolean>((resolve) => {
      const giveUp = () => {
        this.#waiting.delete(waiter);
        resolve(false);
      };
      const timer = this.#clock.after(this.#limits.largePageWaitMs, giveUp, { unref: true });
      const waiter: Waiter = { admit: resolve, timer };
      this.#waiting.add(waiter);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next.timer.cancel();
    next.admit(true);
  }
}
