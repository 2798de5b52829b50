/** Settings of envoy.filters.http.rate_limit_quota. */
import type { GrpcTarget } from '../../../grpc-target.ts';
import type { HeaderValueOption } from '../../../routes/headers.ts';
import type { RuntimeFraction } from '../../../routes/matchers.ts';
import type { MatchInput, MatcherTree } from '../../../routes/matcher-tree.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** What a bucket lets pass: all, nothing, or so many in a time. */
export type QuotaStrategy =
  | { readonly kind: 'allow' | 'deny' }
  | {
      readonly kind: 'tokens';
      readonly maxTokens: number;
      readonly tokensPerFill: number;
      readonly fillIntervalMs: number;
    };

/** An entry of a bucket's identifier. */
export interface QuotaIdEntry {
  readonly key: string;
  readonly value:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'input'; readonly input: MatchInput };
}

/** The action of a matcher: which bucket a request belongs to, and how that one is dealt with. */
export interface QuotaBucketSettings {
  readonly kind: 'quota_bucket';
  readonly id: readonly QuotaIdEntry[];
  readonly reportMs: number;
  readonly unassigned: QuotaStrategy;
  /** Absent: an assignment that ran out counts no more. */
  readonly expired?: {
    /** Infinity: until there is another assignment. */
    readonly timeoutMs: number;
    readonly strategy: QuotaStrategy | 'reuse';
  };
  readonly denial: {
    readonly status: number;
    /** One character per byte. */
    readonly body: string;
    readonly grpcStatus?: number;
    readonly headers: readonly HeaderValueOption[];
  };
}

export interface QuotaRules {
  readonly domain: string;
  /** Absent: no request belongs to a bucket. */
  readonly tree?: MatcherTree<QuotaBucketSettings>;
}

interface RateLimitQuotaOptions extends QuotaRules {
  readonly target: GrpcTarget;
  readonly enabled?: RuntimeFraction;
  readonly enforced?: RuntimeFraction;
  readonly notEnforcedHeaders: readonly HeaderValueOption[];
}

export type RateLimitQuotaFilterSettings = FilterResource<
  'rate_limit_quota',
  RateLimitQuotaOptions
>;

export const RATE_LIMIT_QUOTA_DECLARATION = declareKind<RateLimitQuotaFilterSettings>();
