/**
 * Paces bodies to a bandwidth that all workers share. Source: envoy.filters.http.bandwidth_limit.
 */
import {
  type BandwidthLimitFilterSettings,
  type BandwidthLimitOptions,
  HTTP_BANDWIDTH_LIMIT,
} from '../../../../shared/resources/filters/http/limits/bandwidth-limit.ts';
import { readBoolean } from '../../../../shared/runtime/read-runtime.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { DirectionStats } from './direction-stats.ts';
import { type Pace, PacedBody, type PacedBodyOwner } from './paced-body.ts';

const SECOND_MS = 1000;

interface CompiledLimit {
  readonly options: BandwidthLimitOptions;
  readonly base: number;
  /** Undefined: nothing is limited. */
  readonly pace: Pace | undefined;
}

export function makeBandwidthLimitFilter(
  { name, options: own }: BandwidthLimitFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((options: BandwidthLimitOptions): CompiledLimit => {
    const prefix = `${options.statPrefix}.http_bandwidth_limit.`;
    const base = context.stats.defineBlock(HTTP_BANDWIDTH_LIMIT, prefix);
    context.onBlock(base);
    return { options, base, pace: paceOf(options, context) };
  });
  compiled.of(own);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfig(name) as BandwidthLimitOptions | undefined;
      return new BandwidthLimitFilter(compiled.of(ofRoute ?? own), context, callbacks);
    },
  };
}

function paceOf(options: BandwidthLimitOptions, context: FilterContext): Pace | undefined {
  const { bucket, fillIntervalMs } = options;
  if (bucket === undefined) return undefined;
  const { loop, bufferLimitBytes } = context;
  return {
    bucket: context.sharedBucket(bucket),
    bytesPerFill: Math.max(1, Math.floor((bucket.maxTokens * fillIntervalMs) / SECOND_MS)),
    fillIntervalMs,
    bufferLimitBytes,
    timers: loop.timers,
    held: loop.held,
    now: () => loop.clock.ms,
  };
}

class BandwidthLimitFilter extends PassThroughFilter {
  readonly #limit: CompiledLimit;
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  readonly #request: DirectionStats;
  readonly #response: DirectionStats;
  #requestBody: PacedBody | undefined = undefined;
  #responseBody: PacedBody | undefined = undefined;

  constructor(limit: CompiledLimit, context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#limit = limit;
    this.#context = context;
    this.#callbacks = callbacks;
    this.#request = new DirectionStats('request', limit.base, context);
    this.#response = new DirectionStats('response', limit.base, context);
  }

  override decodeHeaders(): HeadersStatus {
    const { options, pace } = this.#limit;
    if (pace === undefined || !options.limitsRequests || !this.#isOn()) return 'continue';
    this.#request.enabled();
    this.#requestBody = new PacedBody(pace, this.#requestOwner());
    return 'continue';
  }

  override decodeData(data: Buffer, endStream: boolean): DataStatus {
    if (this.#requestBody === undefined) return 'continue';
    this.#request.came(data.length);
    this.#requestBody.write(data, endStream);
    return 'taken';
  }

  override decodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#requestBody === undefined) return 'continue';
    this.#requestBody.end(trailers);
    return 'taken';
  }

  override encodeHeaders(): HeadersStatus {
    const { options, pace } = this.#limit;
    if (pace === undefined || !options.limitsResponses || !this.#isOn()) return 'continue';
    this.#response.enabled();
    this.#responseBody = new PacedBody(pace, this.#responseOwner());
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    const body = this.#responseBody;
    if (body === undefined) return 'continue';
    this.#response.came(data.length);
    if (endStream && this.#limit.options.trailerPrefix !== undefined) {
      body.write(data, false);
      body.end(new HeaderMap());
    } else body.write(data, endStream);
    return 'taken';
  }

  override encodeTrailers(trailers: HeaderMap): TrailersStatus {
    if (this.#responseBody === undefined) return 'continue';
    this.#responseBody.end(trailers);
    return 'taken';
  }

  override onDestroy(): void {
    this.#requestBody?.destroy();
    this.#responseBody?.destroy();
    this.#request.ended();
    this.#response.ended();
  }

  #isOn(): boolean {
    const { runtimeKey, byDefault } = this.#limit.options.enabled;
    return readBoolean(this.#context.runtime.snapshot, runtimeKey, byDefault);
  }

  #requestOwner(): PacedBodyOwner {
    const callbacks = this.#callbacks;
    return {
      onPace: (data, endStream) => {
        if (endStream) this.#request.ended();
        callbacks.injectRequestData(data, endStream);
      },
      onPacedTrailers: (trailers) => {
        this.#request.ended();
        callbacks.injectRequestTrailers(trailers);
      },
      onBacklog: (isFull) => callbacks.pauseRequest(isFull),
      onAllowed: (bytes, waits) => this.#request.allowed(bytes, waits),
      onException: () => callbacks.onException(),
    };
  }

  #responseOwner(): PacedBodyOwner {
    const callbacks = this.#callbacks;
    return {
      onPace: (data, endStream) => {
        if (endStream) this.#response.ended();
        callbacks.injectResponseData(data, endStream);
      },
      onPacedTrailers: (trailers) => {
        this.#response.ended();
        this.#tellDelays(trailers);
        callbacks.injectResponseTrailers(trailers);
      },
      onBacklog: (isFull) => callbacks.pauseResponse(isFull),
      onAllowed: (bytes, waits) => this.#response.allowed(bytes, waits),
      onException: () => callbacks.onException(),
    };
  }

  #tellDelays(trailers: HeaderMap): void {
    const prefix = this.#limit.options.trailerPrefix;
    if (prefix === undefined) return;
    for (const [direction, { tookMs, waitedMs }] of [
      ['request', this.#request],
      ['response', this.#response],
    ] as const) {
      if (tookMs > 0) trailers.set(`${prefix}bandwidth-${direction}-delay-ms`, String(tookMs));
      if (waitedMs > 0) {
        trailers.set(`${prefix}bandwidth-${direction}-filter-delay-ms`, String(waitedMs));
      }
    }
  }
}
