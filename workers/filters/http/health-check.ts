/**
 * Answers health checks of load balancers: from this server's own state, from a cached answer of
 * the upstream, or from the health of clusters. Source: envoy.filters.http.health_check.
 */
import type {
  HealthCheckFilterOptions,
  HealthCheckFilterSettings,
} from '../../../shared/resources/filters/http/health-check.ts';
import { HEALTH_CHECK_FILTER } from '../../../shared/resources/filters/http/health-check.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import {
  compileHeaderMatchers,
  type HeaderPredicate,
} from '../../../shared/matchers/header-matcher.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

type Counter = keyof typeof HEALTH_CHECK_FILTER.index;

interface Verdict {
  readonly status: 200 | 503;
  readonly isDegraded: boolean;
  readonly details: string;
  readonly counters: readonly Counter[];
}

interface HealthCheckParts {
  readonly context: FilterContext;
  readonly options: HealthCheckFilterOptions;
  readonly matches: HeaderPredicate | undefined;
  readonly base: number;
  readonly cache: AnswerCache | undefined;
}

export function makeHealthCheckFilter(
  { name, options }: HealthCheckFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(HEALTH_CHECK_FILTER, `${context.statScope}health_check.`);
  context.onBlock(base);
  const { cacheTimeMs } = options;
  const parts: HealthCheckParts = {
    context,
    options,
    matches: compileHeaderMatchers(options.headers),
    base,
    cache: cacheTimeMs > 0 ? new AnswerCache(cacheTimeMs, context.loop.clock.ms) : undefined,
  };
  return { name, create: (callbacks) => new HealthCheckFilter(parts, callbacks) };
}

class HealthCheckFilter extends PassThroughFilter {
  readonly #parts: HealthCheckParts;
  readonly #callbacks: FilterCallbacks;
  #isHealthCheck = false;
  #isHandled = false;

  constructor(parts: HealthCheckParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { matches, options, context, cache } = this.#parts;
    if (matches?.(headers) === false) return 'continue';
    this.#isHealthCheck = true;
    this.#callbacks.info.isHealthCheck = true;
    this.#isHandled =
      !options.passThrough ||
      context.isHealthCheckFailed() ||
      cache?.answerAt(context.loop.clock.ms) !== undefined;
    if (!this.#isHandled) return 'continue';
    if (endStream) this.#answer();
    return 'stop';
  }

  override decodeData(_data: Buffer, endStream: boolean): DataStatus {
    if (!this.#isHandled) return 'continue';
    if (endStream) this.#answer();
    return 'stop';
  }

  override decodeTrailers(): HeadersStatus {
    if (!this.#isHandled) return 'continue';
    this.#answer();
    return 'stop';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const { cache, context } = this.#parts;
    if (this.#isHealthCheck) {
      if (!this.#isHandled) {
        cache?.put(headers.status, headers.has('x-envoy-degraded'), context.loop.clock.ms);
      }
      headers.set('x-envoy-upstream-healthchecked-cluster', context.nodeCluster);
    }
    if (context.isHealthCheckFailed()) {
      headers.set('x-envoy-immediate-health-check-fail', 'true');
    }
    return 'continue';
  }

  #answer(): void {
    const { context, base } = this.#parts;
    const verdict = this.#decide();
    const isOk = verdict.status === 200;
    const counters: readonly Counter[] = [
      'request_total',
      isOk ? 'ok' : 'failed',
      ...verdict.counters,
    ];
    for (const counter of counters) {
      context.stats.increment(base + HEALTH_CHECK_FILTER.index[counter]);
    }
    if (!isOk) this.#callbacks.info.responseFlags |= ResponseFlag.failedLocalHealthCheck;
    this.#callbacks.sendLocalReply({
      status: verdict.status,
      body: '',
      details: verdict.details,
      ...(verdict.isDegraded
        ? { modifyHeaders: (headers) => headers.set('x-envoy-degraded', '') }
        : {}),
    });
  }

  #decide(): Verdict {
    const { context, cache } = this.#parts;
    if (context.isHealthCheckFailed()) return failed('health_check_failed');
    const cached = cache?.answerAt(context.loop.clock.ms);
    if (cached !== undefined) {
      const counters: Counter[] = ['cached_response'];
      if (cached.isDegraded) counters.push('degraded');
      return {
        status: cached.status >= 200 && cached.status <= 299 ? 200 : 503,
        isDegraded: cached.isDegraded,
        details: 'health_check_cached',
        counters,
      };
    }
    const refusal = this.#unhealthyCluster();
    if (refusal !== undefined) return refusal;
    return this.#parts.options.clusterMinHealthyPercent.length > 0 ? HEALTHY_CLUSTERS : HEALTHY;
  }

  #unhealthyCluster(): Verdict | undefined {
    const { options, context } = this.#parts;
    for (const { cluster, percent } of options.clusterMinHealthyPercent) {
      const health = context.clusterHealth(cluster);
      if (health === undefined) {
        return failed('health_check_failed_cluster_not_found', 'failed_cluster_not_found');
      }
      if (health.total === 0) {
        if (percent === 0) continue;
        return failed('health_check_failed_cluster_empty', 'failed_cluster_empty');
      }
      if (100 * health.usable < health.total * percent) {
        return failed('health_check_failed_cluster_unhealthy', 'failed_cluster_unhealthy');
      }
    }
    return undefined;
  }
}

const HEALTHY: Verdict = {
  status: 200,
  isDegraded: false,
  details: 'health_check_ok',
  counters: [],
};

const HEALTHY_CLUSTERS: Verdict = { ...HEALTHY, details: 'health_check_ok_cluster_healthy' };

function failed(details: string, counter?: Counter): Verdict {
  const counters = counter === undefined ? [] : [counter];
  return { status: 503, isDegraded: false, details, counters };
}

interface CachedAnswer {
  readonly status: number;
  readonly isDegraded: boolean;
}

/** The upstream's last answer, forgotten at every full period since the start. */
class AnswerCache {
  readonly #periodMs: number;
  readonly #startMs: number;
  #answer: CachedAnswer | undefined = undefined;
  #period = -1;

  constructor(periodMs: number, startMs: number) {
    this.#periodMs = periodMs;
    this.#startMs = startMs;
  }

  put(status: number, isDegraded: boolean, nowMs: number): void {
    this.#answer = { status, isDegraded };
    this.#period = this.#periodAt(nowMs);
  }

  answerAt(nowMs: number): CachedAnswer | undefined {
    return this.#periodAt(nowMs) === this.#period ? this.#answer : undefined;
  }

  #periodAt(nowMs: number): number {
    return Math.floor((nowMs - this.#startMs) / this.#periodMs);
  }
}
