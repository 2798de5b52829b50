/**
 * How long the supervisor's event loop was kept from running: what delays admin answers, drains and
 * health decisions. Delays that matter are kept in an HDR histogram and shown as gauges of our own;
 * a server whose loop was never blocked shows none.
 */
import type { Histogram } from 'hdr-histogram-js';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';

/** The loop is asked this often. */
const PERIOD_MS = 100;
/** Shorter delays are the timer's own jitter. */
const BLOCKED_MS = 10;
/** An hour; what is longer counts as that long. */
const LONGEST_MS = 3_600_000;
const SIGNIFICANT_DIGITS = 3;

const GAUGES = [
  { name: 'sluice.main_thread.blocked_p50_ms', percentile: 50 },
  { name: 'sluice.main_thread.blocked_p99_ms', percentile: 99 },
  { name: 'sluice.main_thread.blocked_max_ms', percentile: 100 },
] as const;
const COUNTER = 'sluice.main_thread.blocked';

export class LoopDelay {
  readonly #clock: Clock;
  readonly #stats: StatWriter;
  readonly #timer: Timer;
  #expectedMs: number;
  /**
   * Made with the first delay: loading the library takes longer than most servers are ever blocked.
   */
  #delays: Histogram | undefined;
  #waiting: number[] = [];

  constructor(clock: Clock, stats: StatWriter) {
    this.#clock = clock;
    this.#stats = stats;
    this.#expectedMs = clock.monotonicMs() + PERIOD_MS;
    this.#timer = clock.every(PERIOD_MS, () => this.#measure(), { unref: true });
  }

  stop(): void {
    this.#timer.cancel();
  }

  #measure(): void {
    const nowMs = this.#clock.monotonicMs();
    const delayMs = Math.round(nowMs - this.#expectedMs);
    this.#expectedMs = nowMs + PERIOD_MS;
    if (delayMs >= BLOCKED_MS) this.#record(Math.min(delayMs, LONGEST_MS));
  }

  /** One delay in milliseconds. */
  #record(delayMs: number): void {
    this.#stats.increment(this.#stats.defineCounter(COUNTER));
    if (this.#delays !== undefined) {
      this.#delays.recordValue(delayMs);
      this.#show(this.#delays);
      return;
    }
    this.#waiting.push(delayMs);
    if (this.#waiting.length === 1) void this.#makeHistogram();
  }

  async #makeHistogram(): Promise<void> {
    // The package's own entry brings a reader of logs and WebAssembly: three times the time to
    // load.
    const { default: packed } = await import('hdr-histogram-js/dist/PackedHistogram.js');
    const delays = new packed.default(1, LONGEST_MS, SIGNIFICANT_DIGITS);
    for (const delayMs of this.#waiting) delays.recordValue(delayMs);
    this.#waiting = [];
    this.#delays = delays;
    // Loading held the loop itself, which is not what is to be measured.
    this.#expectedMs = this.#clock.monotonicMs() + PERIOD_MS;
    this.#show(delays);
  }

  #show(delays: Histogram): void {
    for (const { name, percentile } of GAUGES) {
      this.#stats.setGauge(this.#stats.defineGauge(name), delays.getValueAtPercentile(percentile));
    }
  }
}
