/**
 * Compiles query parameter matchers. Names and values are compared as they were sent, not decoded;
 * of a parameter that comes several times the first counts.
 */
import type { QueryParameterMatcher } from '../../shared/resources/matchers.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';

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

function compileQueryMatcher({ name, present, matcher }: QueryParameterMatcher): QueryPredicate {
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

/** The first value of a parameter, empty when it has none; undefined when it is missing. */
function queryValue(query: string, name: string): string | undefined {
  let start = 0;
  while (start <= query.length) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    if (query.startsWith(name, start)) {
      const after = start + name.length;
      if (after === end) return '';
      if (query[after] === '=' && after < end) return query.slice(after + 1, end);
    }
    start = end + 1;
  }
  return undefined;
}
