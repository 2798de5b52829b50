/** Settings of envoy.filters.http.ratelimit, which counts in the stats of a request's cluster. */
import type { GrpcTarget } from '../../../grpc-target.ts';
import type { HeaderValueOption } from '../../../routes/headers.ts';
import type { RuntimeFraction } from '../../../routes/matchers.ts';
import type { RateLimitPolicy } from '../../../routes/rate-limits.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface RateLimitOptions {
  readonly target: GrpcTarget;
  readonly timeoutMs: number;
  readonly domain: string;
  readonly stage: number;
  readonly requestType: 'internal' | 'external' | 'both';
  readonly failureModeDeny: boolean;
  /** How many failures deny their request; absent: all or none. */
  readonly failureModeDenyShare?: RuntimeFraction;
  readonly enabled?: RuntimeFraction;
  readonly enforced?: RuntimeFraction;
  /** A gRPC client is told RESOURCE_EXHAUSTED instead of UNAVAILABLE. */
  readonly isResourceExhausted: boolean;
  /** `X-RateLimit-Limit`, `-Remaining` and `-Reset`. */
  readonly rateLimitHeaders: boolean;
  /** `retry-after`. */
  readonly tellsRetry: boolean;
  /** `x-envoy-ratelimited`. */
  readonly tellsLimited: boolean;
  readonly limitedStatus: number;
  readonly statusOnError: number;
  readonly responseHeaders: readonly HeaderValueOption[];
  readonly statPrefix: string;
  /** In place of those of routes and virtual hosts; empty: there are none. */
  readonly rateLimits: readonly RateLimitPolicy[];
  readonly metadataNamespace: string;
}

export interface RateLimitPerRoute {
  /** Whether the virtual host's limits count beside the route's. */
  readonly virtualHostLimits: 'OVERRIDE' | 'INCLUDE' | 'IGNORE';
  readonly rateLimits: readonly RateLimitPolicy[];
  /** Empty: the filter's own. */
  readonly domain: string;
}

export type RateLimitFilterSettings = FilterResource<'ratelimit', RateLimitOptions>;

export const RATE_LIMIT_DECLARATION = declareKind<RateLimitFilterSettings>();
