/**
 * Closes connections of draining listeners that wait for a next request, where a drain asks for it.
 * A request that is on its way at that moment fails, as with every idle timeout; hence an option.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';

const PERIOD_MS = 250;

export interface IdleCloserOptions {
  readonly loop: WorkerLoop;
  readonly clock: Clock;
  readonly listeners: () => readonly { readonly name: string; closeIdle(limitMs: number): void }[];
  /** How long connections of a listener may be idle; undefined: for ever. */
  readonly limitMs: (listener: string) => number | undefined;
}

export class IdleCloser {
  readonly #options: IdleCloserOptions;
  #timer: Timer | undefined;

  constructor(options: IdleCloserOptions) {
    this.#options = options;
  }

  /** Looks now and from time to time, until no listener has a limit any more. */
  watch(): void {
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const { loop, clock, listeners, limitMs } = this.#options;
    let hasLimit = false;
    loop.enter();
    for (const listener of listeners()) {
      const limit = limitMs(listener.name);
      if (limit === undefined) continue;
      hasLimit = true;
      listener.closeIdle(limit);
    }
    loop.leave();
    if (!hasLimit) return this.stop();
    this.#timer ??= clock.every(PERIOD_MS, () => this.#look(), { unref: true });
  }
}
