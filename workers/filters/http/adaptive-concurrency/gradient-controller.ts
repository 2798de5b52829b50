/**
 * How many requests may be under way at once: grows while latencies stay near what they are without
 * load, and shrinks as they rise. Now and then it lets few through, to measure that least latency
 * again. Follows Envoy's gradient controller.
 *
 * The limit is one of all workers: whoever's time comes first changes it, by the latencies that it has
 * seen itself, and the others begin a new window.
 */
import {
  type AdaptiveConcurrencyOptions,
  GRADIENT_CONTROLLER,
} from '../../../../shared/resources/filters/http/limits/adaptive-concurrency.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { FilterContext } from '../../filter-context.ts';
import { sharedGradient, type SharedGradient } from './shared-gradient.ts';

const GRADIENT_MIN = 0.5;
const GRADIENT_MAX = 2;
/** So often at the least limit in succession, and the least latency is measured again. */
const AT_LEAST_MAX = 5;
/** Latencies kept of a window; of more, a random choice. */
const SAMPLES_MAX = 10_000;
/** What timers may be early by. */
const EARLY_MS = 1;

type Gauge = Exclude<keyof typeof GRADIENT_CONTROLLER.index, 'rq_blocked'>;

export class GradientController implements TimerOwner {
  readonly #options: AdaptiveConcurrencyOptions;
  readonly #context: FilterContext;
  readonly #base: number;
  readonly #timer = new LoopTimer(this, 0);
  readonly #tickMs: number;
  readonly #shown = new Map<Gauge, number>();
  readonly #shared: SharedGradient;
  /** Latencies of this worker's window, which began when somebody changed the limit or measured. */
  #samples: number[] = [];
  #seen = 0;
  #windowMs = 0;

  constructor(options: AdaptiveConcurrencyOptions, context: FilterContext) {
    this.#options = options;
    this.#context = context;
    const prefix = `${context.statScope}adaptive_concurrency.gradient_controller.`;
    this.#base = context.stats.defineBlock(GRADIENT_CONTROLLER, prefix);
    context.onRelease(() => this.#timer.disarm());
    context.onBlock(this.#base);
    const shared = sharedGradient(`${prefix} ${JSON.stringify(options)}`, context);
    this.#shared = shared;
    const { fixedRttMs, updateIntervalMs, minRttIntervalMs } = options;
    this.#tickMs = Math.max(1, Math.min(updateIntervalMs, minRttIntervalMs));
    const isFirst = shared.limit.replace(0, options.minConcurrency);
    if (fixedRttMs !== undefined) shared.minRttMs.set(fixedRttMs);
    else if (isFirst) this.#startMeasuring();
    this.#show();
    this.#arm();
  }

  /** Whether another request may begin; it is under way then. */
  admits(): boolean {
    const { underWay, limit } = this.#shared;
    if (underWay.tryOpen(limit.value)) return true;
    this.#context.stats.increment(this.#base + GRADIENT_CONTROLLER.index.rq_blocked);
    return false;
  }

  /** A request that was sent at this moment has its whole response. */
  complete(sentMs: number): void {
    const { underWay, deferredLimit, measureSinceMs, measured } = this.#shared;
    underWay.add(-1);
    const isMeasuring = deferredLimit.value > 0;
    if (isMeasuring) {
      const since = measureSinceMs.value;
      if (sentMs < since) return;
      this.#beginWindow(since);
    }
    this.#keep(this.#context.loop.clock.ms - sentMs);
    if (isMeasuring && measured.add(1) >= this.#options.requestCount) this.#endMeasuring();
  }

  /** A request ended without a response. */
  cancel(): void {
    this.#shared.underWay.add(-1);
  }

  onTimer(): void {
    this.#arm();
    const { deferredLimit, updatedMs, measureAtMs } = this.#shared;
    const { fixedRttMs, updateIntervalMs } = this.#options;
    const now = this.#context.loop.clock.ms;
    if (deferredLimit.value === 0) {
      const before = updatedMs.value;
      this.#beginWindow(Math.max(before, this.#shared.measureSinceMs.value));
      if (fixedRttMs === undefined && now >= measureAtMs.value - EARLY_MS) this.#startMeasuring();
      else if (this.#samples.length > 0 && now - before >= updateIntervalMs - EARLY_MS) {
        if (updatedMs.replace(before, now)) this.#adjust(now);
      }
    }
    this.#show();
  }

  onException(): void {
    // Requests have exceptions of their own; the limit stays as it is.
  }

  #startMeasuring(): void {
    const { limit, deferredLimit, measureSinceMs, measured } = this.#shared;
    if (deferredLimit.value > 0) return;
    const now = this.#context.loop.clock.ms;
    measured.set(0);
    measureSinceMs.set(now);
    if (!deferredLimit.replace(0, limit.value)) return;
    limit.set(this.#options.minConcurrency);
    this.#beginWindow(now);
    this.#show();
  }

  /** One worker alone ends it. */
  #endMeasuring(): void {
    const { limit, deferredLimit, minRttMs, measureAtMs, updatedMs } = this.#shared;
    const { minRttIntervalMs, jitter } = this.#options;
    const before = deferredLimit.value;
    if (before === 0) return;
    const now = this.#context.loop.clock.ms;
    const share = (this.#context.runtime.random() % 1000) / 1000;
    measureAtMs.set(now + minRttIntervalMs * (1 + (share * jitter) / 100));
    updatedMs.set(now);
    minRttMs.set(this.#latency());
    limit.set(before);
    deferredLimit.set(0);
    this.#beginWindow(now);
    this.#show();
  }

  /** By what the last window has shown. */
  #adjust(now: number): void {
    const { limit, minRttMs, sampleRttMs, gradient, burst, timesAtLeast } = this.#shared;
    const sampleMs = this.#latency();
    this.#beginWindow(now);
    sampleRttMs.set(sampleMs);
    const { buffer, minConcurrency, maxConcurrency } = this.#options;
    const buffered = minRttMs.value * (1 + buffer / 100);
    const raw = sampleMs === 0 ? GRADIENT_MAX : buffered / sampleMs;
    const factor = Math.max(GRADIENT_MIN, Math.min(GRADIENT_MAX, raw));
    gradient.set(factor);
    const before = limit.value;
    const changed = before * factor;
    const headroom = Math.sqrt(changed);
    burst.set(headroom);
    const next = Math.max(minConcurrency, Math.min(maxConcurrency, Math.floor(changed + headroom)));
    const stays = next === before && next === minConcurrency;
    timesAtLeast.set(stays ? timesAtLeast.value + 1 : 0);
    limit.set(next);
    if (timesAtLeast.value < AT_LEAST_MAX || this.#options.fixedRttMs !== undefined) return;
    timesAtLeast.set(0);
    this.#startMeasuring();
  }

  #keep(latencyMs: number): void {
    this.#seen++;
    if (this.#samples.length < SAMPLES_MAX) {
      this.#samples.push(latencyMs);
      return;
    }
    const at = this.#context.runtime.random() % this.#seen;
    if (at < SAMPLES_MAX) this.#samples[at] = latencyMs;
  }

  /** What came before that moment says nothing any more. */
  #beginWindow(sinceMs: number): void {
    if (sinceMs <= this.#windowMs) return;
    this.#windowMs = sinceMs;
    this.#samples = [];
    this.#seen = 0;
  }

  /** The one that stands for the window. */
  #latency(): number {
    const sorted = this.#samples.toSorted((one, other) => one - other);
    const at = Math.ceil((sorted.length * this.#options.percentile) / 100) - 1;
    return sorted[Math.max(0, at)] ?? 0;
  }

  /** Gauges of all workers are added up: one of them shows what is the same for all. */
  #show(): void {
    if (!this.#context.isFirstWorker) return;
    const { limit, deferredLimit, minRttMs, sampleRttMs, gradient, burst } = this.#shared;
    this.#showOne('concurrency_limit', limit.value);
    this.#showOne('min_rtt_calculation_active', deferredLimit.value > 0 ? 1 : 0);
    this.#showOne('min_rtt_msecs', Math.floor(minRttMs.value));
    this.#showOne('sample_rtt_msecs', Math.floor(sampleRttMs.value));
    this.#showOne('gradient', Math.floor(gradient.value * 1000));
    this.#showOne('burst_queue_size', Math.floor(burst.value));
  }

  #showOne(gauge: Gauge, value: number): void {
    const before = this.#shown.get(gauge) ?? 0;
    this.#shown.set(gauge, value);
    const { stats } = this.#context;
    const index = this.#base + GRADIENT_CONTROLLER.index[gauge];
    if (value > before) stats.add(index, value - before);
    else if (value < before) stats.subtract(index, before - value);
  }

  #arm(): void {
    this.#context.loop.timers.list(this.#tickMs).arm(this.#timer);
  }
}
