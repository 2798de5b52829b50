/**
 * Compiles header matchers to one predicate over a header map. A header that comes several times
 * matches when one of its values does; `invert` turns the whole answer round, except that a header
 * that is missing never matches a value (unless it is treated as empty).
 */
import type { HeaderMatcher } from '../resources/routes/matchers.ts';
import { compileStringMatcher } from './string-matcher.ts';
import type { TextPredicate } from './string-matcher.ts';

/** What a header matcher looks at. Names are lower case. */
interface MatchedHeaders {
  /** Names and values in turn, without the pseudo headers. */
  readonly entries: readonly string[];
  /** The first value, those of pseudo headers too. */
  get(name: string): string | undefined;
}

export type HeaderPredicate = (headers: MatchedHeaders) => boolean;

/** All of the matchers must match; undefined when there are none. */
export function compileHeaderMatchers(
  matchers: readonly HeaderMatcher[],
): HeaderPredicate | undefined {
  const predicates = matchers.map(compileHeaderMatcher);
  const [only] = predicates;
  if (predicates.length <= 1) return only;
  return (headers) => {
    for (const predicate of predicates) if (!predicate(headers)) return false;
    return true;
  };
}

export function compileHeaderMatcher(matcher: HeaderMatcher): HeaderPredicate {
  const { name, invert, treatMissingAsEmpty, match } = matcher;
  if (match.kind === 'present') {
    const wanted = match.present !== invert;
    return (headers) => (headers.get(name) !== undefined) === wanted;
  }
  const matches =
    match.kind === 'string' ? compileStringMatcher(match.matcher) : inRange(match.start, match.end);
  const whenMissing = treatMissingAsEmpty && matches('') !== invert;
  return (headers) => {
    const first = headers.get(name);
    if (first === undefined) return whenMissing;
    return (matches(first) || laterMatches(headers, name, matches)) !== invert;
  };
}

/** Looks at every further entry of the header; the first was looked at before. */
function laterMatches(headers: MatchedHeaders, name: string, matches: TextPredicate): boolean {
  const { entries } = headers;
  let isFirst = true;
  for (let at = 0; at < entries.length; at += 2) {
    if (entries[at] !== name) continue;
    if (!isFirst && matches(entries[at + 1] ?? '')) return true;
    isFirst = false;
  }
  return false;
}

const INTEGER = /^[+-]?\d+$/;

function inRange(start: number, end: number): TextPredicate {
  return (text) => {
    if (!INTEGER.test(text)) return false;
    const value = Number(text);
    return start <= value && value < end;
  };
}
