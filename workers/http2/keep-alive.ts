/**
 * Asks the peer of one connection by PING whether it is there: at intervals, and before a stream
 * that begins after a long silence. A peer that does not answer in time has its connection ended.
 */
import type { Http2PingOptions } from '../../shared/resources/http2-options.ts';
import { LoopTimer, type LoopTimers, type TimerOwner } from '../loop/timers.ts';

const TIMER_ASK = 0;
const TIMER_ANSWER = 1;
const PAYLOAD = 'sluice\0\0';

export interface KeepAliveOwner {
  ping(payload: string): void;
  /** The peer keeps silent. */
  onSilence(): void;
  onException(): void;
}

export class KeepAlive implements TimerOwner {
  readonly #options: Http2PingOptions;
  readonly #timers: LoopTimers;
  readonly #owner: KeepAliveOwner;
  readonly #ask = new LoopTimer(this, TIMER_ASK);
  readonly #answer = new LoopTimer(this, TIMER_ANSWER);
  #lastHeardMs: number;

  constructor(options: Http2PingOptions, timers: LoopTimers, owner: KeepAliveOwner) {
    this.#options = options;
    this.#timers = timers;
    this.#owner = owner;
    this.#lastHeardMs = timers.clock.ms;
    this.#armAsk();
  }

  /** Anything came. */
  heard(): void {
    this.#lastHeardMs = this.#timers.clock.ms;
  }

  answered(): void {
    this.#answer.disarm();
    this.#armAsk();
  }

  beforeStream(): void {
    const { idleIntervalMs } = this.#options;
    if (idleIntervalMs <= 0 || this.#answer.isArmed) return;
    if (this.#timers.clock.ms - this.#lastHeardMs >= idleIntervalMs) this.#sendPing();
  }

  stop(): void {
    this.#ask.disarm();
    this.#answer.disarm();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_ANSWER) this.#owner.onSilence();
    else if (!this.#answer.isArmed) this.#sendPing();
  }

  onException(): void {
    this.#owner.onException();
  }

  #sendPing(): void {
    const { timeoutMs } = this.#options;
    this.#owner.ping(PAYLOAD);
    if (timeoutMs > 0) this.#timers.list(timeoutMs).arm(this.#answer);
  }

  /** In whole percents of the interval, so that delays stay few. */
  #armAsk(): void {
    const { intervalMs, jitterPercent } = this.#options;
    if (intervalMs <= 0) return;
    const percent = Math.floor(Math.random() * (jitterPercent + 1));
    this.#timers.list(intervalMs + Math.floor((intervalMs * percent) / 100)).arm(this.#ask);
  }
}
