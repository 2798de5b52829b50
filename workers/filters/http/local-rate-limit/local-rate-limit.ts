/**
 * Refuses requests beyond a rate, by a bucket of all workers or of the connection. Source:
 * envoy.filters.http.local_ratelimit.
 */
import type {
  LocalRateLimitOptions,
  LocalRateLimitFilterSettings,
} from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import type { RateLimitPolicy } from '../../../../shared/resources/routes/rate-limits.ts';
import { HTTP_LOCAL_RATE_LIMIT } from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../../../stream/joined-headers.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import type { ConnectionInfo } from '../../../net/connection-info.ts';
import { compileHeaderMutations, type HeaderMutation } from '../../../routing/header-mutations.ts';
import { isEnabled } from '../../../loop/runtime.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { type BucketStore, LimitBuckets, type Taken } from './limit-buckets.ts';
import {
  compileDescriptors,
  type Descriptor,
  type DescriptorMaker,
} from '../../common/rate-limit-descriptors.ts';
import { OwnState, TokenBucket } from '../../common/token-bucket.ts';

interface TellingMaker {
  readonly make: DescriptorMaker;
  /** Whether headers tell of the limit; undefined: as the filter says. */
  readonly tells: boolean | undefined;
}

interface CompiledLimit {
  readonly options: LocalRateLimitOptions;
  readonly base: number;
  /** Undefined: the filter does nothing. */
  readonly shared: LimitBuckets | undefined;
  readonly ofConnection: WeakMap<ConnectionInfo, LimitBuckets>;
  readonly changes: HeaderMutation | undefined;
  readonly notEnforced: HeaderMutation | undefined;
  /** Made once per list of policies, which routes and virtual hosts bring. */
  readonly descriptors: CompiledSettings<readonly RateLimitPolicy[], readonly TellingMaker[]>;
}

interface LimitParts {
  readonly name: string;
  readonly context: FilterContext;
  readonly own: LocalRateLimitOptions;
  readonly compiled: CompiledSettings<LocalRateLimitOptions, CompiledLimit>;
}

export function makeLocalRateLimitFilter(
  { name, options: own }: LocalRateLimitFilterSettings,
  context: FilterContext,
): FilterFactory {
  const compiled = new CompiledSettings((options: LocalRateLimitOptions): CompiledLimit => {
    const prefix = `${options.statPrefix}.http_local_rate_limit.`;
    const base = context.stats.defineBlock(HTTP_LOCAL_RATE_LIMIT, prefix);
    context.onBlock(base);
    return {
      options,
      base,
      shared:
        options.bucket &&
        new LimitBuckets(options.bucket, options, {
          bucket: (bucket) => context.sharedBucket(bucket),
          state: (name) => context.sharedState(name),
        }),
      ofConnection: new WeakMap(),
      changes: compileHeaderMutations(
        [{ add: options.responseHeaders, remove: [] }],
        JOINED_IN_RESPONSES,
      ),
      notEnforced: compileHeaderMutations(
        [{ add: options.notEnforcedHeaders, remove: [] }],
        JOINED_IN_REQUESTS,
      ),
      descriptors: new CompiledSettings((policies: readonly RateLimitPolicy[]) =>
        policies.flatMap((policy) => {
          const { tells } = policy;
          const makers = compileDescriptors([policy], options.stage, context.nodeCluster);
          return makers.map((make) => ({ make, tells }));
        }),
      ),
    };
  });
  compiled.of(own);
  const parts: LimitParts = { name, context, own, compiled };
  return { name, create: (callbacks) => new LocalRateLimitFilter(parts, callbacks) };
}

const OWN_STORE: BucketStore = {
  bucket: (options) => new TokenBucket(options),
  state: () => new OwnState(),
};
interface TellingDescriptor {
  readonly descriptor: Descriptor;
  readonly tells: boolean | undefined;
}

const NONE: readonly TellingDescriptor[] = [];
const NO_DESCRIPTORS: readonly Descriptor[] = [];
const entriesOf = ({ descriptor }: TellingDescriptor): Descriptor => descriptor;
/** The code of gRPC. */
const RESOURCE_EXHAUSTED = 8;

class LocalRateLimitFilter extends PassThroughFilter {
  readonly #parts: LimitParts;
  readonly #callbacks: FilterCallbacks;
  /** The bucket that this request took from or found empty. */
  #bucket: TokenBucket | undefined = undefined;

  constructor(parts: LimitParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, compiled, context } = this.#parts;
    const settings = this.#callbacks.routeConfig(name) as LocalRateLimitOptions | undefined;
    const limit = compiled.of(settings ?? own);
    const { options, base } = limit;
    const { runtime, stats } = context;
    if (!isEnabled(options.enabled, runtime, runtime.random())) return 'continue';
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.enabled);
    const taken = this.#take(limit, headers);
    if (taken === undefined || (taken.isAllowed && !taken.isShadowed)) {
      stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.ok);
      return 'continue';
    }
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.rate_limited);
    if (taken.isShadowed) {
      stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.shadow_mode);
      return 'continue';
    }
    if (!isEnabled(options.enforced, runtime, runtime.random())) {
      limit.notEnforced?.(headers, this.#callbacks.info);
      return 'continue';
    }
    stats.increment(base + HTTP_LOCAL_RATE_LIMIT.index.enforced);
    this.#refuse(limit, taken.bucket);
    return 'stop';
  }

  /** Undefined: nothing is limited. */
  #take(limit: CompiledLimit, headers: HeaderMap): Taken | undefined {
    const { ms } = this.#parts.context.loop.clock;
    const { rateLimitHeaders } = limit.options;
    const buckets = this.#bucketsOf(limit);
    const descriptors = buckets?.hasDescriptors ? this.#descriptorsOf(limit, headers) : NONE;
    if (descriptors.length === 0) {
      const taken = buckets?.take(NO_DESCRIPTORS, ms);
      this.#bucket = rateLimitHeaders ? taken?.bucket : undefined;
      return taken;
    }
    const taken = buckets?.take(descriptors.map(entriesOf), ms);
    const deciding = descriptors.find(({ descriptor }) => descriptor === taken?.descriptor);
    this.#bucket = (deciding?.tells ?? rateLimitHeaders) ? taken?.bucket : undefined;
    return taken;
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const bucket = this.#bucket;
    if (bucket !== undefined) {
      const { ms } = this.#parts.context.loop.clock;
      headers.set('x-ratelimit-limit', String(bucket.maxTokens));
      headers.set('x-ratelimit-remaining', String(bucket.remaining(ms)));
      headers.set('x-ratelimit-reset', String(bucket.secondsToNext(ms)));
    }
    return 'continue';
  }

  #refuse({ options, changes }: CompiledLimit, bucket: TokenBucket): void {
    const { info } = this.#callbacks;
    const { ms } = this.#parts.context.loop.clock;
    const retryS = options.tellsRetry ? bucket.secondsToNext(ms) : 0;
    info.responseFlags |= ResponseFlag.rateLimited;
    this.#callbacks.sendLocalReply({
      status: options.status < 400 ? 429 : options.status,
      body: 'local_rate_limited',
      details: 'local_rate_limited',
      grpcStatus: options.isResourceExhausted ? RESOURCE_EXHAUSTED : undefined,
      modifyHeaders: (headers) => {
        changes?.(headers, info);
        if (retryS > 0) headers.set('retry-after', String(retryS));
      },
    });
  }

  #bucketsOf({ options, shared, ofConnection }: CompiledLimit): LimitBuckets | undefined {
    if (!options.perConnection || options.bucket === undefined) return shared;
    const { connection } = this.#callbacks.info;
    let buckets = ofConnection.get(connection);
    if (buckets === undefined) {
      buckets = new LimitBuckets(options.bucket, options, OWN_STORE);
      ofConnection.set(connection, buckets);
    }
    return buckets;
  }

  /** The filter's own policies, else the route's and the virtual host's. */
  #descriptorsOf(limit: CompiledLimit, headers: HeaderMap): readonly TellingDescriptor[] {
    const { info, route } = this.#callbacks;
    const { rateLimits, virtualHostLimits } = limit.options;
    const action = route?.kind === 'cluster' ? route.action : undefined;
    const ofRoute = action?.rateLimits ?? [];
    const includes =
      virtualHostLimits === 'INCLUDE' ||
      (virtualHostLimits === 'OVERRIDE' &&
        (ofRoute.length === 0 || action?.includeVirtualHostRateLimits === true));
    const ofHost = includes ? (route?.virtualHost.rateLimits ?? []) : [];
    const lists = rateLimits === undefined ? [ofRoute, ofHost] : [rateLimits];
    return lists
      .flatMap((policies) => limit.descriptors.of(policies))
      .flatMap(({ make, tells }) => {
        const descriptor = make(headers, info);
        return descriptor === undefined ? [] : [{ descriptor, tells }];
      });
  }
}
