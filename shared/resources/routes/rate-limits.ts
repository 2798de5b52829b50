/**
 * What of a request its rate limits go by, as routes and filters say it. Texts are byte strings,
 * formats are substitution formats. Source: envoy.config.route.v3.RateLimit.
 */
import type { RateLimitBucket } from './rate-limit-bucket.ts';
import type { HeaderMatcher, QueryParameterMatcher } from './matchers.ts';

/** Its actions make one descriptor, or none where one of them finds nothing. */
export interface RateLimitPolicy {
  readonly stage: number;
  /** Limits kept here go without it, but the list that it stands in is not empty. */
  readonly isSkipped?: true;
  readonly actions: readonly RateLimitAction[];
}

export type RateLimitAction =
  /** `skipIfAbsent`: the descriptor does without this entry. */
  | {
      readonly kind: 'request_header' | 'query_parameter';
      readonly name: string;
      readonly key: string;
      readonly skipIfAbsent: boolean;
    }
  | { readonly kind: 'remote_address' | 'source_cluster' | 'destination_cluster' }
  | { readonly kind: 'masked_remote_address'; readonly v4: number; readonly v6: number }
  | { readonly kind: 'generic_key'; readonly key: string; readonly format: string }
  | {
      readonly kind: 'match';
      readonly key: string;
      readonly format: string;
      readonly expected: boolean;
      readonly headers: readonly HeaderMatcher[];
      readonly queryParameters: readonly QueryParameterMatcher[];
    }
  | {
      readonly kind: 'metadata';
      readonly key: string;
      readonly source: 'dynamic' | 'route';
      readonly namespace: string;
      readonly path: readonly string[];
      readonly defaultValue: string;
      readonly skipIfAbsent: boolean;
    };

export interface RateLimitEntry {
  readonly key: string;
  readonly value: string;
}

/** Requests with exactly this descriptor have a bucket of their own. */
export interface DescriptorLimit {
  readonly entries: readonly RateLimitEntry[];
  readonly bucket: RateLimitBucket;
}
