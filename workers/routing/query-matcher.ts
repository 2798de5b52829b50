/**
 * Compiles query parameter matchers. Names and values are compared as they were sent, not decoded;
 * of a parameter that comes several times the first counts.
 */
import type { QueryParameterMatcher } from '../../shared/resources/routes/matchers.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import { queryValue } from '../stream/query.ts';

/** `query` is what stands behind the question mark. */
export type QueryPredicate = (query: string) => boolean;

/** All of the matchers must match; undefined when there are none. */
export function compileQueryMatchers(
  matchers: readonly QueryParameterMatcher[],
): QueryPredicate | undefined {
  if (matchers.length === 0) return undefined;
  const predicates = matchers.map(compileQueryMatcher);
  return (query) => predicates.every((predicate) => predicate(query));
}

export function compileQueryMatcher({
  name,
  present,
  matcher,
}: QueryParameterMatcher): QueryPredicate {
  if (matcher === undefined) {
    const wanted = present ?? true;
    return (query) => (queryValue(query, name) !== undefined) === wanted;
  }
  const matches = compileStringMatcher(matcher);
  return (query) => {
    const value = queryValue(query, name);
    return value !== undefined && matches(value);
  };
}
