/** Settings and stats of envoy.filters.http.local_ratelimit. */
import type { FilterResource } from '../declare-filter.ts';
import type { HeaderValueOption } from '../../routes/headers.ts';
import type { RuntimeFraction } from '../../routes/matchers.ts';
import type { RateLimitBucket } from '../../routes/rate-limit-bucket.ts';
import type { DescriptorLimit, RateLimitPolicy } from '../../routes/rate-limits.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export interface LocalRateLimitOptions {
  readonly statPrefix: string;
  readonly status: number;
  /** Absent: the filter does nothing. */
  readonly bucket?: RateLimitBucket;
  readonly enabled: RuntimeFraction;
  readonly enforced: RuntimeFraction;
  readonly responseHeaders: readonly HeaderValueOption[];
  /** One bucket per connection instead of one for all. */
  readonly perConnection: boolean;
  /** `X-RateLimit-Limit`, `-Remaining` and `-Reset`. */
  readonly rateLimitHeaders: boolean;
  /** `retry-after`. */
  readonly tellsRetry: boolean;
  readonly descriptors: readonly DescriptorLimit[];
  /** The limit for a descriptor with an entry that any value fits: those used last stay. */
  readonly bucketsPerWildcard: number;
  /** The stage whose rate limits count, among those of the route and the virtual host. */
  readonly stage: number;
  /** In place of the route's and virtual host's; absent where there are none. */
  readonly rateLimits?: readonly RateLimitPolicy[];
  /**
   * Whether the virtual host's limits count beside the route's: only where it has none by default.
   */
  readonly virtualHostLimits: 'OVERRIDE' | 'INCLUDE' | 'IGNORE';
  /** The filter's own bucket gives a token for requests with a descriptor too. */
  readonly alwaysTakesOwn: boolean;
  readonly notEnforcedHeaders: readonly HeaderValueOption[];
  /** A gRPC client is told RESOURCE_EXHAUSTED instead of UNAVAILABLE. */
  readonly isResourceExhausted: boolean;
}

/** Prefix: `<stat_prefix of the filter>.http_local_rate_limit.` */
export const HTTP_LOCAL_RATE_LIMIT = defineTemplate('http_local_rate_limit', {
  enabled: counter('Requests that the limit was asked about'),
  enforced: counter('Requests refused by the limit'),
  ok: counter('Requests within the limit'),
  rate_limited: counter('Requests beyond the limit'),
  shadow_mode: counter('Requests beyond a descriptor in shadow mode alone'),
});

export type LocalRateLimitFilterSettings = FilterResource<'local_ratelimit', LocalRateLimitOptions>;

export const LOCAL_RATE_LIMIT_DECLARATION =
  declareKind<LocalRateLimitFilterSettings>(HTTP_LOCAL_RATE_LIMIT);
