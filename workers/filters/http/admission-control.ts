/**
 * Rejects a share of requests while too many fail, so that a cluster can recover. The share grows
 * with failures of this worker's own window. Source: envoy.filters.http.admission_control.
 */
import {
  ADMISSION_CONTROL,
  type AdmissionControlFilterSettings,
  type AdmissionControlOptions,
  type RuntimeNumber,
} from '../../../shared/resources/filters/http/limits/admission-control.ts';
import { readBoolean, readDouble } from '../../../shared/runtime/read-runtime.ts';
import type {
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { isGrpcContentType } from '../../stream/grpc-status.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

const SECOND_MS = 1000;
/** Draws have four digits, as Envoy's. */
const DRAWS = 10_000;
const STATS = ADMISSION_CONTROL.index;

/** Requests of one second. */
interface Sample {
  readonly atMs: number;
  requests: number;
  successes: number;
}

class SamplingWindow {
  readonly #windowMs: number;
  #samples: Sample[] = [];
  requests = 0;
  successes = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  record(isSuccess: boolean, nowMs: number): void {
    this.expire(nowMs);
    let last = this.#samples.at(-1);
    if (last === undefined || nowMs - last.atMs >= SECOND_MS) {
      last = { atMs: nowMs, requests: 0, successes: 0 };
      this.#samples.push(last);
    }
    last.requests++;
    this.requests++;
    if (!isSuccess) return;
    last.successes++;
    this.successes++;
  }

  expire(nowMs: number): void {
    for (;;) {
      const [first] = this.#samples;
      if (first === undefined || nowMs - first.atMs < this.#windowMs) return;
      this.requests -= first.requests;
      this.successes -= first.successes;
      this.#samples.shift();
    }
  }

  /** Per second, since the oldest of the window. */
  averageRate(nowMs: number): number {
    const [first] = this.#samples;
    if (first === undefined || this.requests === 0) return 0;
    return Math.floor(this.requests / Math.max(1, Math.floor((nowMs - first.atMs) / SECOND_MS)));
  }
}

interface AdmissionParts {
  readonly own: AdmissionControlOptions;
  readonly context: FilterContext;
  readonly base: number;
  readonly window: SamplingWindow;
  readonly grpcSuccess: ReadonlySet<number>;
}

export function makeAdmissionControlFilter(
  { name, options: own }: AdmissionControlFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(
    ADMISSION_CONTROL,
    `${context.statScope}admission_control.`,
  );
  context.onBlock(base);
  const window = new SamplingWindow(own.windowMs);
  const parts = { own, context, base, window, grpcSuccess: new Set(own.grpcSuccess) };
  return { name, create: (callbacks) => new AdmissionControlFilter(parts, callbacks) };
}

class AdmissionControlFilter extends PassThroughFilter {
  readonly #parts: AdmissionParts;
  readonly #callbacks: FilterCallbacks;
  /** The response, or that there was none, counts still. */
  #isCounting = false;
  #hasStatusInTrailers = false;

  constructor(parts: AdmissionParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    const { own, context, window, base } = this.#parts;
    const { runtimeKey, byDefault } = own.enabled;
    const isOn = readBoolean(context.runtime.snapshot, runtimeKey, byDefault);
    if (!isOn || this.#callbacks.info.isHealthCheck) return 'continue';
    this.#isCounting = true;
    const nowMs = context.loop.clock.ms;
    window.expire(nowMs);
    if (window.averageRate(nowMs) < this.#read(own.rpsThreshold)) return 'continue';
    if (!this.#rejects()) return 'continue';
    this.#isCounting = false;
    context.stats.increment(base + STATS.rq_rejected);
    this.#callbacks.sendLocalReply({
      status: 503,
      body: '',
      details: 'denied_by_admission_control',
    });
    return 'stop';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    if (!this.#isCounting) return 'continue';
    if (isGrpcContentType(headers.get('content-type'))) {
      const status = headers.get('grpc-status');
      if (status === undefined && !endStream) this.#hasStatusInTrailers = true;
      else this.#countGrpc(status);
      return 'continue';
    }
    const { status } = headers;
    this.#count(
      this.#parts.own.httpSuccess.some(({ start, end }) => status >= start && status < end),
    );
    return 'continue';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#hasStatusInTrailers) this.#countGrpc(trailers.get('grpc-status'));
    return 'continue';
  }

  /** Without a response the request has failed. */
  override onDestroy(): void {
    this.#count(false);
  }

  #rejects(): boolean {
    const { own, context, window } = this.#parts;
    const threshold = Math.min(100, this.#read(own.successRate)) / 100;
    const { requests, successes } = window;
    const failing = (requests - successes / threshold) / (requests + 1);
    const probability = Math.max(failing, 0) ** (1 / Math.max(1, this.#read(own.aggression)));
    const limit = Math.min(100, this.#read(own.maxRejection)) / 100;
    return DRAWS * Math.min(probability, limit) > context.runtime.random() % DRAWS;
  }

  #read({ runtimeKey, byDefault }: RuntimeNumber): number {
    return readDouble(this.#parts.context.runtime.snapshot, runtimeKey, byDefault);
  }

  #countGrpc(status: string | undefined): void {
    const isNumber = status !== undefined && /^[0-9]{1,9}$/.test(status);
    this.#count(isNumber && this.#parts.grpcSuccess.has(Number(status)));
  }

  #count(isSuccess: boolean): void {
    if (!this.#isCounting) return;
    this.#isCounting = false;
    const { context, base, window } = this.#parts;
    window.record(isSuccess, context.loop.clock.ms);
    context.stats.increment(base + (isSuccess ? STATS.rq_success : STATS.rq_failure));
  }
}
