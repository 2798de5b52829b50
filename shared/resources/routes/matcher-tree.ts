/**
 * Trees of matchers as workers receive them: what is looked at, how, and the actions that the
 * leaves hold. Source: xds.type.matcher.v3.Matcher.
 */
import type { CelExpression } from '../../cel/expression.ts';
import type { AddressRange, RuntimeFraction, StringMatcher, ValueMatcher } from './matchers.ts';

/** The message whose headers are meant. */
export type HeaderInput =
  | 'request_header'
  | 'request_trailer'
  | 'response_header'
  | 'response_trailer';

/** What has nothing to configure. */
export type PlainInput =
  | 'destination_ip'
  /** Three digits, or `2xx`. */
  | 'status_code'
  | 'status_code_class'
  /** `true` of responses that were made here, `false` of a host's. */
  | 'local_reply'
  | 'destination_port'
  | 'source_ip'
  | 'source_port'
  | 'direct_source_ip'
  | 'source_type'
  /** Linux namespaces of listeners: there are none here. */
  | 'network_namespace'
  | 'server_name'
  /** Inputs of connections whose filter chain is not chosen yet, as listener filters found them. */
  | 'transport_protocol'
  | 'application_protocols'
  | 'uri_san'
  | 'dns_san'
  | 'subject';

/** What a matcher looks at; texts are byte strings. */
export type MatchInput =
  /** Lower case; several values are joined by commas. */
  | { readonly kind: HeaderInput; readonly name: string }
  /** All that an expression may read. */
  | { readonly kind: 'attributes' }
  | { readonly kind: 'query_parameter'; readonly name: string }
  | { readonly kind: 'filter_state'; readonly key: string }
  | {
      readonly kind: 'dynamic_metadata';
      readonly namespace: string;
      readonly path: readonly string[];
    }
  /** An environment variable, read when the configuration was. */
  | { readonly kind: 'constant'; readonly value?: string }
  | { readonly kind: PlainInput };

export type ValueMatch =
  /** Only of `attributes`. */
  | { readonly kind: 'cel'; readonly expression: CelExpression }
  | { readonly kind: 'string'; readonly matcher: StringMatcher }
  | { readonly kind: 'address'; readonly ranges: readonly AddressRange[] }
  | { readonly kind: 'value'; readonly matcher: ValueMatcher; readonly invert: boolean }
  | { readonly kind: 'runtime_fraction'; readonly fraction: RuntimeFraction }
  /** Matches where the hash of the text modulo `modulo` is not below `threshold`. */
  | {
      readonly kind: 'consistent_hashing';
      readonly threshold: number;
      readonly modulo: number;
      readonly seed: { readonly high: number; readonly low: number };
    };

export type MatchPredicate =
  | { readonly kind: 'single'; readonly input: MatchInput; readonly match: ValueMatch }
  | { readonly kind: 'and' | 'or'; readonly predicates: readonly MatchPredicate[] }
  | { readonly kind: 'not'; readonly predicate: MatchPredicate };

/** What follows a match. `keepMatching`: as if it had not matched, but for what it counts. */
export type OnMatch<Action> =
  | {
      readonly kind: 'matcher';
      readonly matcher: MatcherTree<Action>;
      readonly keepMatching: boolean;
    }
  | { readonly kind: 'action'; readonly action: Action; readonly keepMatching: boolean };

export type MatcherTree<Action> = (
  | {
      readonly kind: 'list';
      readonly matchers: readonly {
        readonly predicate: MatchPredicate;
        readonly onMatch: OnMatch<Action>;
      }[];
    }
  | {
      /** The kind of the map; the longest of prefixes comes first. */
      readonly kind: 'exact' | 'prefix';
      readonly input: MatchInput;
      readonly branches: readonly { readonly key: string; readonly onMatch: OnMatch<Action> }[];
    }
  | {
      /** The longest range that holds the address comes first. */
      readonly kind: 'address';
      readonly input: MatchInput;
      readonly branches: readonly {
        readonly ranges: readonly AddressRange[];
        readonly onMatch: OnMatch<Action>;
        readonly exclusive: boolean;
      }[];
    }
) & { readonly onNoMatch?: OnMatch<Action> };
