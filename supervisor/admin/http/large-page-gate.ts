/**
 * Lets a few large pages be made at the same time; more wait in order, and beyond the limits they
 * are refused, so that scrapes never pile up in memory. A page whose client reads slowly gives its
 * place to the next one and goes on beside it: a few slow clients keep nobody from the pages.
 */
import type { Writable } from 'node:stream';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { AdminLimits } from './admin-limits.ts';

/** Why there is no place. */
type NoPlace = 'refused' | 'gone';

interface Waiter {
  readonly settle: (outcome: Place | NoPlace) => void;
}

/** A large page that is being made. */
export interface Place {
  /** Its client does not take what was sent; `giveUp` ends the page. */
  pause(giveUp: () => void): void;
  resume(): void;
  leave(): void;
}

export class LargePageGate {
  readonly #limits: AdminLimits;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  #running = 0;
  #parked = 0;
  /** How to end each page that waits for its client and has no place, the longest waiting first. */
  readonly #stalled = new Set<() => void>();

  constructor(limits: AdminLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Refused: too many wait, or it waited too long. Gone: the client left meanwhile. */
  async enter(client: Writable): Promise<Place | NoPlace> {
    if (client.destroyed) return 'gone';
    if (this.#running < this.#limits.largePages) return this.#place();
    if (this.#waiting.size >= this.#limits.waitingLargePages) return 'refused';
    return await new Promise<Place | NoPlace>((resolve) => {
      const settle = (outcome: Place | NoPlace): void => {
        this.#waiting.delete(waiter);
        timer.cancel();
        client.off('close', onClose);
        resolve(outcome);
      };
      const onClose = (): void => settle('gone');
      const timer = this.#clock.after(this.#limits.largePageWaitMs, () => settle('refused'), {
        unref: true,
      });
      const waiter: Waiter = { settle };
      this.#waiting.add(waiter);
      client.once('close', onClose);
    });
  }

  #place(): Place {
    this.#running++;
    let isParked = false;
    let timer: Timer | undefined;
    let stalled: (() => void) | undefined;
    const resume = (): void => {
      timer?.cancel();
      if (stalled !== undefined) this.#stalled.delete(stalled);
      stalled = undefined;
    };
    return {
      pause: (giveUp) => {
        const park = (): void => {
          if (!isParked && !this.#makeRoom()) return;
          if (!isParked) this.#vacate();
          isParked = true;
          stalled = giveUp;
          this.#stalled.add(giveUp);
        };
        if (isParked) park();
        else timer = this.#clock.after(this.#limits.parkAfterMs, park, { unref: true });
      },
      resume,
      leave: () => {
        resume();
        if (isParked) this.#parked--;
        else this.#next();
      },
    };
  }

  /** Whether one more page may go on without a place. */
  #makeRoom(): boolean {
    if (this.#parked < this.#limits.parkedPages) return true;
    const [longest] = this.#stalled;
    longest?.();
    return longest !== undefined;
  }

  #vacate(): void {
    this.#parked++;
    this.#next();
  }

  #next(): void {
    this.#running--;
    const [next] = this.#waiting;
    if (next !== undefined && this.#running < this.#limits.largePages) next.settle(this.#place());
  }
}
