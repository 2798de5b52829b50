/**
 * Asks a peer by PING whether it is still there, in the configured intervals, and says when no
 * answer came in time.
 */
import type { Http2PingOptions } from '../../shared/resources/http2-options.ts';
import { LoopTimer, type LoopTimers, type TimerList, type TimerOwner } from '../loop/timers.ts';

/** Intervals that jitter makes of one: each is a list of timers. */
const JITTER_STEPS = 8;

export interface KeepAliveParts {
  /** `payload` has eight bytes. */
  readonly ping: (payload: string) => void;
  readonly onTimeout: () => void;
  readonly onException: () => void;
}

/** What all connections of a manager share. */
export class KeepAliveTimes {
  readonly intervals: readonly TimerList[];
  readonly timeout: TimerList;

  constructor({ intervalMs, timeoutMs, jitterPercent }: Http2PingOptions, timers: LoopTimers) {
    const jitterMs = (intervalMs * jitterPercent) / 100;
    const steps = jitterMs >= 1 ? JITTER_STEPS : 1;
    this.intervals = Array.from({ length: steps }, (_, step) =>
      timers.list(Math.max(1, Math.round(intervalMs + (jitterMs * step) / steps))),
    );
    this.timeout = timers.list(Math.max(1, timeoutMs));
  }
}

export class KeepAlive implements TimerOwner {
  readonly #times: KeepAliveTimes;
  readonly #parts: KeepAliveParts;
  readonly #interval = new LoopTimer(this, INTERVAL);
  readonly #timeout = new LoopTimer(this, TIMEOUT);
  #sent = 0;

  constructor(times: KeepAliveTimes, parts: KeepAliveParts) {
    this.#times = times;
    this.#parts = parts;
  }

  start(): void {
    const { intervals } = this.#times;
    intervals[Math.floor(Math.random() * intervals.length)]?.arm(this.#interval);
  }

  /** Answers to older pings count for nothing. */
  onAck(payload: string): void {
    if (!this.#timeout.isArmed || payload !== payloadOf(this.#sent)) return;
    this.#timeout.disarm();
    this.start();
  }

  end(): void {
    this.#interval.disarm();
    this.#timeout.disarm();
  }

  onTimer(kind: number): void {
    if (kind === TIMEOUT) {
      this.#parts.onTimeout();
      return;
    }
    this.#sent++;
    this.#times.timeout.arm(this.#timeout);
    this.#parts.ping(payloadOf(this.#sent));
  }

  onException(): void {
    this.#parts.onException();
  }
}

const INTERVAL = 0;
const TIMEOUT = 1;

function payloadOf(count: number): string {
  return (count % 100_000_000).toString().padStart(8, '0');
}
