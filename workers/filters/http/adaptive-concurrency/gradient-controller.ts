/**
 * How many requests may be under way at once: grows while latencies stay near what they are without
 * load, and shrinks as they rise. Now and then it lets few through, to measure that least latency
 * again. Follows Envoy's gradient controller.
 */
import {
  type AdaptiveConcurrencyOptions,
  GRADIENT_CONTROLLER,
} from '../../../../shared/resources/filters/http/limits/adaptive-concurrency.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { FilterContext } from '../../filter-context.ts';

const GRADIENT_MIN = 0.5;
const GRADIENT_MAX = 2;
/** So often at the least limit in succession, and the least latency is measured again. */
const AT_LEAST_MAX = 5;
/** Latencies kept of a window; of more, a random choice. */
const SAMPLES_MAX = 10_000;
const Timer = { update: 0, measure: 1 } as const;

type Gauge = Exclude<keyof typeof GRADIENT_CONTROLLER.index, 'rq_blocked'>;

export class GradientController implements TimerOwner {
  readonly #options: AdaptiveConcurrencyOptions;
  readonly #context: FilterContext;
  readonly #base: number;
  readonly #update = new LoopTimer(this, Timer.update);
  readonly #measure = new LoopTimer(this, Timer.measure);
  readonly #shown = new Map<Gauge, number>();
  #samples: number[] = [];
  #seen = 0;
  #limit: number;
  #underWay = 0;
  #minRttMs: number;
  /** The limit before the least latency is being measured; 0: it is not. */
  #deferredLimit = 0;
  #measureSinceMs = 0;
  #timesAtLeast = 0;

  constructor(options: AdaptiveConcurrencyOptions, context: FilterContext) {
    this.#options = options;
    this.#context = context;
    const prefix = `${context.statScope}adaptive_concurrency.gradient_controller.`;
    this.#base = context.stats.defineBlock(GRADIENT_CONTROLLER, prefix);
    context.onRelease(() => this.#release());
    context.onBlock(this.#base);
    this.#limit = options.minConcurrency;
    this.#minRttMs = options.fixedRttMs ?? 0;
    this.#setLimit(this.#limit);
    if (options.fixedRttMs === undefined) this.#startMeasuring();
    else this.#show('min_rtt_msecs', Math.floor(options.fixedRttMs));
    this.#arm(this.#update, options.updateIntervalMs);
  }

  /** Whether another request may begin; it is under way then. */
  admits(): boolean {
    if (this.#underWay >= this.#limit) {
      this.#context.stats.increment(this.#base + GRADIENT_CONTROLLER.index.rq_blocked);
      return false;
    }
    this.#underWay++;
    return true;
  }

  /** A request that was sent at this moment has its whole response. */
  complete(sentMs: number): void {
    this.#underWay--;
    const isMeasuring = this.#deferredLimit > 0;
    if (isMeasuring && sentMs < this.#measureSinceMs) return;
    this.#keep(this.#context.loop.clock.ms - sentMs);
    if (isMeasuring && this.#seen >= this.#options.requestCount) this.#endMeasuring();
  }

  /** A request ended without a response. */
  cancel(): void {
    this.#underWay--;
  }

  onTimer(kind: number): void {
    if (kind === Timer.measure) {
      this.#startMeasuring();
      return;
    }
    if (this.#deferredLimit > 0) return;
    this.#adjust();
    this.#arm(this.#update, this.#options.updateIntervalMs);
  }

  onException(): void {
    // Requests have exceptions of their own; the limit stays as it is.
  }

  #startMeasuring(): void {
    if (this.#deferredLimit > 0) return;
    this.#show('min_rtt_calculation_active', 1);
    this.#deferredLimit = this.#limit;
    this.#setLimit(this.#options.minConcurrency);
    this.#takeLatency();
    this.#measureSinceMs = this.#context.loop.clock.ms;
  }

  #endMeasuring(): void {
    const { minRttIntervalMs, jitter, updateIntervalMs } = this.#options;
    this.#minRttMs = this.#takeLatency();
    this.#show('min_rtt_msecs', Math.floor(this.#minRttMs));
    this.#setLimit(this.#deferredLimit);
    this.#deferredLimit = 0;
    this.#show('min_rtt_calculation_active', 0);
    const share = (this.#context.runtime.random() % 1000) / 1000;
    this.#arm(this.#measure, minRttIntervalMs * (1 + (share * jitter) / 100));
    this.#arm(this.#update, updateIntervalMs);
  }

  /** By what the last window has shown. */
  #adjust(): void {
    if (this.#samples.length === 0) return;
    const sampleMs = this.#takeLatency();
    this.#show('sample_rtt_msecs', Math.floor(sampleMs));
    const { buffer, minConcurrency, maxConcurrency } = this.#options;
    const buffered = this.#minRttMs * (1 + buffer / 100);
    const raw = sampleMs === 0 ? GRADIENT_MAX : buffered / sampleMs;
    const gradient = Math.max(GRADIENT_MIN, Math.min(GRADIENT_MAX, raw));
    this.#show('gradient', Math.floor(gradient * 1000));
    const limit = this.#limit * gradient;
    const headroom = Math.sqrt(limit);
    this.#show('burst_queue_size', Math.floor(headroom));
    const next = Math.max(minConcurrency, Math.min(maxConcurrency, Math.floor(limit + headroom)));
    const stays = next === this.#limit && next === minConcurrency;
    this.#timesAtLeast = stays ? this.#timesAtLeast + 1 : 0;
    this.#setLimit(next);
    if (this.#timesAtLeast < AT_LEAST_MAX || this.#options.fixedRttMs !== undefined) return;
    this.#timesAtLeast = 0;
    this.#measure.disarm();
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

  /** The latency that stands for the window, which begins again. */
  #takeLatency(): number {
    const sorted = this.#samples.toSorted((one, other) => one - other);
    this.#samples = [];
    this.#seen = 0;
    const at = Math.ceil((sorted.length * this.#options.percentile) / 100) - 1;
    return sorted[Math.max(0, at)] ?? 0;
  }

  #setLimit(limit: number): void {
    this.#limit = limit;
    this.#show('concurrency_limit', limit);
  }

  #show(gauge: Gauge, value: number): void {
    const before = this.#shown.get(gauge) ?? 0;
    this.#shown.set(gauge, value);
    const { stats } = this.#context;
    const index = this.#base + GRADIENT_CONTROLLER.index[gauge];
    if (value > before) stats.add(index, value - before);
    else if (value < before) stats.subtract(index, before - value);
  }

  #arm(timer: LoopTimer, delayMs: number): void {
    this.#context.loop.timers.list(Math.max(1, delayMs)).arm(timer);
  }

  #release(): void {
    this.#update.disarm();
    this.#measure.disarm();
  }
}
