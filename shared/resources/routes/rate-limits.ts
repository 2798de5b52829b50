/**
 * What of a request its rate limits go by, as routes and filters say it. Texts are byte strings,
 * formats are substitution formats. Source: envoy.config.route.v3.RateLimit.
 */
import type { CelExpression } from '../../cel/expression.ts';
import type { MatchInput } from './matcher-tree.ts';
import type { IpRange } from '../../addresses/ip-ranges.ts';
import type { RateLimitBucket } from './rate-limit-bucket.ts';
import type { HeaderMatcher, QueryParameterMatcher } from './matchers.ts';

/** Its actions make one descriptor, or none where one of them finds nothing. */
export interface RateLimitPolicy {
  readonly stage: number;
  /**
   * A part of the runtime key that switches it off where a service is asked; empty: none. Limits
   * kept here go without policies that have one, but the list that it stands in is not empty.
   */
  readonly disableKey: string;
  readonly actions: readonly RateLimitAction[];
  /** Asked about when a request is over, instead of before it is sent on. */
  readonly appliesWhenDone: boolean;
  /** In place of the service's own limit. */
  readonly limit?: RateLimitOverride;
  /** Whether headers tell of it; absent: as the filter says. */
  readonly tells?: boolean;
  /** How much a request counts; absent: as much as the filter says. */
  readonly hits?: RateLimitHits;
}

export type RateLimitOverride =
  | { readonly kind: 'fixed'; readonly requestsPerUnit: number; readonly unit: number }
  | { readonly kind: 'metadata'; readonly namespace: string; readonly path: readonly string[] };

/** A number, or a substitution format that gives one. */
export interface RateLimitHits {
  readonly number: number;
  readonly format: string;
  readonly isNegative: boolean;
}

/** Numbers of envoy.type.v3.RateLimitUnit by name. */
export const RATE_LIMIT_UNITS: ReadonlyMap<string, number> = new Map([
  ['UNKNOWN', 0],
  ['SECOND', 1],
  ['MINUTE', 2],
  ['HOUR', 3],
  ['DAY', 4],
  ['MONTH', 5],
  ['YEAR', 6],
  ['WEEK', 7],
]);

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
  | {
      readonly kind: 'generic_key';
      readonly key: string;
      readonly format: string;
      /** Where the format gives nothing; empty: there is none. */
      readonly defaultValue: string;
    }
  | {
      readonly kind: 'match';
      readonly key: string;
      readonly format: string;
      readonly defaultValue: string;
      readonly expected: boolean;
      readonly headers: readonly HeaderMatcher[];
      readonly queryParameters: readonly QueryParameterMatcher[];
      /** Absent: any client; inverted: all but these. */
      readonly clients?: { readonly ranges: readonly IpRange[]; readonly isInverted: boolean };
    }
  | {
      readonly kind: 'expression';
      readonly key: string;
      readonly expression: CelExpression;
      readonly skipIfAbsent: boolean;
    }
  /** An empty value gives no entry. */
  | { readonly kind: 'input'; readonly key: string; readonly input: MatchInput }
  /** The token is read, not verified: that is another filter's business. */
  | {
      readonly kind: 'jwt_claim';
      readonly key: string;
      readonly place: 'header' | 'cookie';
      /** The name of a header in lower case. */
      readonly name: string;
      /** In front of the token; empty: there is none. */
      readonly prefix: string;
      readonly path: readonly string[];
      readonly defaultValue: string;
      readonly skipIfAbsent: boolean;
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

/**
 * Requests with exactly this descriptor have a bucket of their own; any value fits an entry whose
 * value is empty, and each combination of values has its own bucket then.
 */
export interface DescriptorLimit {
  readonly entries: readonly RateLimitEntry[];
  readonly bucket: RateLimitBucket;
  /** What is beyond it is counted, and passes. */
  readonly isShadow?: true;
}
