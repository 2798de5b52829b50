/**
 * Matchers as workers receive them: checked, with regular expressions already translated.
 * Source: envoy.type.matcher.v3 and the header and query matchers of envoy.config.route.v3.
 */

/**
 * A regular expression that passed the RE2 syntax check in the supervisor. It matches byte strings
 * (one character per byte). Neither form of it has the user's own text in it: `source` is for V8,
 * for texts within the limits; `program` is for the engine of `shared/regex/linear/`, for all
 * others.
 */
export interface CompiledRegex {
  /** The user's text, for display. */
  readonly pattern: string;
  /** Empty when V8 never runs it. */
  readonly source: string;
  /** For asking whether the whole text matches. */
  readonly whole: BacktrackingLimits;
  /** For asking whether a part matches; of a pattern for replacements, for all its matches. */
  readonly part: BacktrackingLimits;
  /** Empty when V8 always runs it. */
  readonly program: string;
}

/** The longest texts that V8 is sure to be fast with; -1 when there are none. */
export interface BacktrackingLimits {
  readonly anyText: number;
  /** The pattern for texts without a line feed. */
  readonly oneLine: number;
}

/** envoy.type.matcher.v3.StringMatcher. `value` is lower case already when `ignoreCase` is set. */
export type StringMatcher =
  | {
      readonly kind: 'exact' | 'prefix' | 'suffix' | 'contains';
      readonly value: string;
      readonly ignoreCase: boolean;
    }
  | { readonly kind: 'regex'; readonly regex: CompiledRegex };

export interface HeaderMatcher {
  /** Lower case; `:method`, `:path`, `:authority` and `:scheme` name the request's own parts. */
  readonly name: string;
  readonly invert: boolean;
  readonly treatMissingAsEmpty: boolean;
  readonly match:
    | { readonly kind: 'present'; readonly present: boolean }
    | { readonly kind: 'string'; readonly matcher: StringMatcher }
    /** Half open, as Envoy: start <= value < end. */
    | { readonly kind: 'range'; readonly start: number; readonly end: number };
}

export interface QueryParameterMatcher {
  readonly name: string;
  /**
   * Without a matcher: whether the parameter has to be there or to be missing; true when absent.
   */
  readonly present?: boolean;
  readonly matcher?: StringMatcher;
}

/**
 * A share of requests, changeable at run time. `numerator / denominator`, with the runtime's key.
 */
export interface RuntimeFraction {
  readonly runtimeKey?: string;
  readonly numerator: number;
  readonly denominator: 100 | 10_000 | 1_000_000;
}

/** envoy.type.matcher.v3.ValueMatcher, for a value of a protobuf Struct. */
export type ValueMatcher =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'number'; readonly exact: number }
  /** Half open. */
  | { readonly kind: 'range'; readonly start: number; readonly end: number }
  | { readonly kind: 'string'; readonly matcher: StringMatcher }
  /** Whether there has to be a value at all. */
  | { readonly kind: 'present'; readonly present: boolean }
  /** A list one of whose items matches. */
  | { readonly kind: 'list'; readonly item: ValueMatcher }
  | { readonly kind: 'or'; readonly matchers: readonly ValueMatcher[] };

/** envoy.type.matcher.v3.MetadataMatcher; `path` leads from the namespace to the value. */
export interface MetadataMatcher {
  readonly namespace: string;
  readonly path: readonly string[];
  readonly value: ValueMatcher;
  readonly invert: boolean;
}

export interface AddressRange {
  readonly address: string;
  readonly prefixLength: number;
}

/** envoy.type.matcher.v3.FilterStateMatcher. */
export interface FilterStateMatcher {
  readonly key: string;
  readonly match:
    | { readonly kind: 'string'; readonly matcher: StringMatcher }
    | {
        readonly kind: 'address';
        readonly ranges: readonly AddressRange[];
        readonly invert: boolean;
      };
}

/** envoy.config.route.v3.CookieMatcher. A cookie that is missing never matches. */
export interface CookieMatcher {
  readonly name: string;
  readonly matcher: StringMatcher;
  readonly invert: boolean;
}
