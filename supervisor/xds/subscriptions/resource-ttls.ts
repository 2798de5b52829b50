/** Resources that a control plane gave a time to live: each goes unless it is heard of again. */
import type { Clock, Timer } from '../../../shared/process/clock.ts';

export class ResourceTtls {
  readonly #clock: Clock;
  readonly #expired: (name: string) => void;
  readonly #timers = new Map<string, Timer>();

  constructor(clock: Clock, expired: (name: string) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  /** Begins the time again; undefined: the resource stays. */
  set(name: string, ttlMs: number | undefined): void {
    this.clear(name);
    if (ttlMs === undefined) return;
    const timer = this.#clock.after(ttlMs, () => {
      this.#timers.delete(name);
      this.#expired(name);
    });
    this.#timers.set(name, timer);
  }

  clear(name: string): void {
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}
