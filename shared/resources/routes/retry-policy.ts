/** How a route retries and hedges. */
import type { Struct } from '../../text/dictionary.ts';
import type { HeaderMatcher } from './matchers.ts';

/** Which hosts a further try leaves out. */
export type RetryHostPredicate =
  | { readonly kind: 'previous_hosts' | 'omit_canary_hosts' }
  /** Hosts whose `envoy.lb` metadata has all of these. */
  | { readonly kind: 'omit_host_metadata'; readonly labels: Struct };

export interface RetryPolicy {
  /** Comma separated conditions, split and trimmed. */
  readonly retryOn: readonly string[];
  readonly numRetries: number;
  readonly perTryTimeoutMs?: number;
  readonly perTryIdleTimeoutMs?: number;
  readonly retriableStatusCodes: readonly number[];
  readonly retriableHeaders: readonly HeaderMatcher[];
  readonly retriableRequestHeaders: readonly HeaderMatcher[];
  readonly backOffBaseMs: number;
  readonly backOffMaxMs: number;
  readonly rateLimitedBackOff?: {
    readonly maxIntervalMs: number;
    readonly resetHeaders: readonly {
      readonly name: string;
      readonly format: 'SECONDS' | 'UNIX_TIMESTAMP';
    }[];
  };
  readonly hostPredicates: readonly RetryHostPredicate[];
  readonly hostSelectionRetryMaxAttempts: number;
  readonly previousPrioritiesUpdateFrequency?: number;
}

export interface HedgePolicy {
  readonly initialRequests: number;
  readonly hedgeOnPerTryTimeout: boolean;
}
