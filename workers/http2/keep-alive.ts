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
  /** A stream that begins after so long a silence is preceded by a ping; 0: never. */
  readonly idleMs: number;
  readonly timers: LoopTimers;

  constructor(
    { intervalMs, timeoutMs, jitterPercent, idleIntervalMs }: Http2PingOptions,
    timers: LoopTimers,
  ) {
    this.idleMs = idleIntervalMs;
    this.timers = timers;
    const jitterMs = (intervalMs * jitterPercent) / 100;
    const steps = intervalMs <= 0 ? 0 : jitterMs >= 1 ? JITTER_STEPS : 1;
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
  #receivedMs: number;

  constructor(times: KeepAliveTimes, parts: KeepAliveParts) {
    this.#times = times;
    this.#parts = parts;
    this.#receivedMs = times.timers.clock.ms;
  }

  start(): void {
    const { intervals } = this.#times;
    intervals[Math.floor(Math.random() * intervals.length)]?.arm(this.#interval);
  }

  /** Anything came. */
  heard(): void {
    this.#receivedMs = this.#times.timers.clock.ms;
  }

  beforeStream(): void {
    const { idleMs, timers } = this.#times;
    if (idleMs <= 0 || this.#timeout.isArmed) return;
    if (timers.clock.ms - this.#receivedMs >= idleMs) this.#ping();
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
    if (!this.#timeout.isArmed) this.#ping();
  }

  onException(): void {
    this.#parts.onException();
  }

  #ping(): void {
    this.#sent++;
    this.#times.timeout.arm(this.#timeout);
    this.#parts.ping(payloadOf(this.#sent));
  }
}

const INTERVAL = 0;
const TIMEOUT = 1;

function payloadOf(count: number): string {
  return (count % 100_000_000).toString().padStart(8, '0');
}
