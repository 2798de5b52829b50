/**
 * Refuses requests beyond a rate, by a bucket of all workers or of the connection. Source:
 * envoy.filters.http.local_ratelimit.
 */
import type { LocalRateLimitOptions } from '../../shared/resources/http-filters.ts';
import { HTTP_LOCAL_RATE_LIMIT } from '../../shared/stats/templates/http-filters.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { JOINED_IN_RESPONSES } from '../http/joined-headers.ts';
import { ResponseFlag } from '../http/response-flags.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { isEnabled } from '../runtime.ts';
import { CompiledSettings, type FilterContext } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';
import { TokenBucket } from './token-bucket.ts';

interface CompiledLimit {
  readonly options: LocalRateLimitOptions;
  readonly base: number;
  readonly shared: TokenBucket | undefined;
  readonly ofConnection: WeakMap<ConnectionInfo, TokenBucket>;
  readonly changes: HeaderMutation | undefined;
}

interface LimitParts {
  readonly name: string;
  readonly context: FilterContext;
  readonly own: LocalRateLimitOptions;
  readonly compiled: CompiledSettings<LocalRateLimitOptions, CompiledLimit>;
}

export function makeLocalRateLimitFilter(
  name: string,
  own: LocalRateLimitOptions,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((options: LocalRateLimitOptions): CompiledLimit => {
    const prefix = `${options.statPrefix}.http_local_rate_limit.`;
    const base = context.stats.defineBlock(HTTP_LOCAL_RATE_LIMIT, prefix);
    context.onBlock(base);
    return {
      options,
      base,
      shared: options.bucket && context.sharedBucket(options.bucket),
      ofConnection: new WeakMap(),
      changes: compileHeaderMutations(
        [{ add: options.responseHeaders, remove: [] }],
        JOINED_IN_RESPONSES,
      ),
    };
  });
  compiled.of(own);
  const parts: LimitParts = { name, context, own, compiled };
  return { name, create: (callbacks) => new LocalRateLimitFilter(parts, callbacks) };
}

class LocalRateLimitFilter extends PassThroughFilter {
  private readonly parts: LimitParts;
  private readonly callbacks: FilterCallbacks;
  /** The bucket that this request took from or found empty. */
  private bucket: TokenBucket | undefined = undefined;

  constructor(parts: LimitParts, callbacks: FilterCallbacks) {
    super();
    this.parts = parts;
    this.callbacks = callbacks;
  }

  override decodeHeaders(): HeadersStatus {
    const { name, own, compiled, context } = this.parts;
    const settings = this.callbacks.routeConfig(name) as LocalRateLimitOptions | undefined;
    const limit = compiled.of(settings ?? own);
    const { options, base } = limit;
    const { runtime, stats, loop } = context;
    if (!isEnabled(options.enabled, runtime, runtime.random())) return 'continue';
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.enabled);
    const bucket = this.bucketOf(limit);
    this.bucket = options.rateLimitHeaders ? bucket : undefined;
    if (bucket === undefined || bucket.take(loop.clock.ms)) {
      stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.ok);
      return 'continue';
    }
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.rate_limited);
    if (!isEnabled(options.enforced, runtime, runtime.random())) return 'continue';
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.enforced);
    this.refuse(limit);
    return 'stop';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const { bucket } = this;
    if (bucket !== undefined) {
      const { ms } = this.parts.context.loop.clock;
      headers.set('x-ratelimit-limit', String(bucket.maxTokens));
      headers.set('x-ratelimit-remaining', String(bucket.remaining(ms)));
      headers.set('x-ratelimit-reset', String(bucket.secondsToNext(ms)));
    }
    return 'continue';
  }

  private refuse({ options, changes }: CompiledLimit): void {
    const { info } = this.callbacks;
    info.responseFlags |= ResponseFlag.rateLimited;
    this.callbacks.sendLocalReply({
      status: options.status < 400 ? 429 : options.status,
      body: 'local_rate_limited',
      details: 'local_rate_limited',
      modifyHeaders: (headers) => changes?.(headers, info),
    });
  }

  private bucketOf({ options, shared, ofConnection }: CompiledLimit): TokenBucket | undefined {
    if (!options.perConnection || options.bucket === undefined) return shared;
    const { connection } = this.callbacks.info;
    let bucket = ofConnection.get(connection);
    if (bucket === undefined) {
      bucket = new TokenBucket(options.bucket);
      ofConnection.set(connection, bucket);
    }
    return bucket;
  }
}
