/**
 * When statistics are flushed: by a timer, or by each admin read where the bootstrap says so. A
 * flush collects the workers' deltas, closes the histograms' intervals and serves the sinks. It
 * knows neither workers nor sinks, only functions that its composer gives.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';

/** A worker that does not answer holds up an admin read by no more than this. */
const ADMIN_LIMIT_MS = 100;
/** By the timer a flush may wait longer: nobody is waiting for it. */
const TIMER_LIMIT_MS = 1000;

export interface FlushSteps {
  /** Asks every worker for its deltas; resolves with the workers that did not answer in time. */
  collect(limitMs: number): Promise<readonly number[]>;
  /** Sets gauges that are only computed for readers: uptime, memory and the like. */
  refresh(): Promise<void>;
  closeIntervals(): void;
  /** Hands the interval to the sinks. Reports its own failures. */
  writeSinks(): Promise<void>;
  /** A flush was due while the one before was still under way. */
  onDropped(): void;
  onLate(workers: readonly number[]): void;
  /** A flush by the timer failed. */
  onFailure(error: unknown): void;
}

export interface FlushCycleOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly onAdmin: boolean;
  readonly steps: FlushSteps;
}

export class FlushCycle {
  readonly #options: FlushCycleOptions;
  #timer: Timer | undefined;
  #isFlushing = false;

  constructor(options: FlushCycleOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, intervalMs, onAdmin } = this.#options;
    if (onAdmin) return;
    this.#timer = clock.every(intervalMs, () => this.#onTimer(), { unref: true });
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Brings counters and gauges up to date for a reader of single values. */
  async collect(): Promise<void> {
    await this.#collect(ADMIN_LIMIT_MS);
  }

  /**
   * Brings the statistics up to date for a page of them, and flushes them where the bootstrap says
   * so.
   */
  async beforeRead(): Promise<void> {
    await this.#collect(ADMIN_LIMIT_MS);
    const { onAdmin, steps } = this.#options;
    if (!onAdmin) return;
    steps.closeIntervals();
    await steps.writeSinks();
  }

  /** One whole flush; dropped when one is under way. */
  async flush(limitMs = TIMER_LIMIT_MS): Promise<void> {
    const { steps } = this.#options;
    if (this.#isFlushing) {
      steps.onDropped();
      return;
    }
    this.#isFlushing = true;
    try {
      await this.#collect(limitMs);
      steps.closeIntervals();
      await steps.writeSinks();
    } finally {
      this.#isFlushing = false;
    }
  }

  async #collect(limitMs: number): Promise<void> {
    const { steps } = this.#options;
    const late = await steps.collect(limitMs);
    if (late.length > 0) steps.onLate(late);
    await steps.refresh();
  }

  #onTimer(): void {
    this.flush().catch((error: unknown) => this.#options.steps.onFailure(error));
  }
}
