/** A clock that stands still until it is told how much time passes; timers fire in their order. */
import type { Clock, Timer } from '../../shared/process/clock.ts';

interface Pending {
  dueMs: number;
  readonly periodMs: number | undefined;
  readonly fire: () => void;
}

export class ManualClock implements Clock {
  #nowMs = 1000;
  readonly #pending = new Set<Pending>();

  wallMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  monotonicNs(): bigint {
    return BigInt(this.#nowMs) * 1_000_000n;
  }

  after(delayMs: number, fire: () => void): Timer {
    return this.#add(delayMs, undefined, fire);
  }

  every(periodMs: number, fire: () => void): Timer {
    return this.#add(periodMs, periodMs, fire);
  }

  pass(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#pending].toSorted((left, right) => left.dueMs - right.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      if (next.periodMs === undefined) this.#pending.delete(next);
      else next.dueMs += next.periodMs;
      next.fire();
    }
    this.#nowMs = endMs;
  }

  #add(delayMs: number, periodMs: number | undefined, fire: () => void): Timer {
    const pending = { dueMs: this.#nowMs + delayMs, periodMs, fire };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }
}
