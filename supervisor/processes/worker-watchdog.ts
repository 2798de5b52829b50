/**
 * Pings one worker and says when it has not answered for too long. It kills nothing itself, and it
 * never blames a worker for the time that the supervisor's own loop was stuck.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';

const PING_PERIOD_MS = 5_000;
/**
 * After the limit has passed, the time in which an answer that already waits here is still read.
 */
const GRACE_MS = 200;

export interface WatchdogOptions {
  readonly clock: Clock;
  ping(id: number): void;
  /** Called once; the watchdog has stopped then. */
  expire(limitMs: number): void;
}

export class WorkerWatchdog {
  readonly #options: WatchdogOptions;
  #timer: Timer | undefined;
  #grace: Timer | undefined;
  #lastPingId = 0;
  /** When the oldest ping without an answer was sent. */
  #unansweredSinceMs: number | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** `limitMs` 0 turns it off. */
  start(limitMs: number): void {
    if (limitMs === 0) return;
    this.#timer = this.#options.clock.every(Math.min(PING_PERIOD_MS, limitMs / 2), () =>
      this.#tick(limitMs),
    );
  }

  /** Anything that the worker sends shows that its loop turns. */
  heard(): void {
    this.#unansweredSinceMs = undefined;
    this.#grace?.cancel();
    this.#grace = undefined;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#grace?.cancel();
    this.#grace = undefined;
  }

  #tick(limitMs: number): void {
    const now = this.#options.clock.monotonicMs();
    this.#unansweredSinceMs ??= now;
    const waitedMs = now - this.#unansweredSinceMs;
    this.#lastPingId += 1;
    this.#options.ping(this.#lastPingId);
    if (waitedMs < limitMs || this.#grace !== undefined) return;
    this.#grace = this.#options.clock.after(GRACE_MS, () => {
      this.stop();
      this.#options.expire(limitMs);
    });
  }
}
