/** Compiles what a route asks of a request besides its path: headers, parameters, metadata, TLS. */
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import { compileHeaderMatchers } from '../../shared/matchers/header-matcher.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import { compileMetadataMatcher } from '../matching/value-matcher.ts';
import type { CookieMatcher, FilterStateMatcher } from '../../shared/resources/routes/matchers.ts';
import type { RouteMatch } from '../../shared/resources/routes/route.ts';
import { findCookie } from '../stream/cookies.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';
import { compileQueryMatchers } from './query-matcher.ts';

type RequestPredicate = (headers: HeaderMap, info: StreamInfo) => boolean;

/** Everything but the path, cheapest first; undefined when the path alone decides. */
export function compileConditions(
  match: RouteMatch,
  runtime: Runtime,
): RequestPredicate | undefined {
  const checks = [...compileRequestChecks(match, runtime), ...compileStreamChecks(match)];
  const [only] = checks;
  if (checks.length <= 1) return only;
  return (headers, info) => {
    for (const check of checks) if (!check(headers, info)) return false;
    return true;
  };
}

function compileRequestChecks(match: RouteMatch, runtime: Runtime): RequestPredicate[] {
  const { grpcOnly, runtimeFraction } = match;
  const headersFit = compileHeaderMatchers(match.headers);
  const queryFits = compileQueryMatchers(match.queryParameters);
  const checks: RequestPredicate[] = [];
  if (runtimeFraction !== undefined) {
    checks.push(() => isEnabled(runtimeFraction, runtime, runtime.random()));
  }
  if (grpcOnly) checks.push((headers) => isGrpcContentType(headers.get('content-type')));
  if (headersFit !== undefined) checks.push(headersFit);
  if (queryFits !== undefined) {
    checks.push((headers) => {
      const mark = headers.path.indexOf('?');
      return queryFits(mark < 0 ? '' : headers.path.slice(mark + 1));
    });
  }
  return checks;
}

function compileStreamChecks(match: RouteMatch): RequestPredicate[] {
  const { tls, dynamicMetadata = [], filterState = [], cookies = [] } = match;
  const checks: RequestPredicate[] = [];
  if (tls !== undefined) {
    checks.push((_, { connection }) => {
      const { presented, validated } = tls;
      const isPresented = connection.tls?.peer !== undefined;
      const isValidated = isPresented && connection.tls?.isPeerVerified === true;
      return (
        (presented ?? isPresented) === isPresented && (validated ?? isValidated) === isValidated
      );
    });
  }
  for (const matcher of dynamicMetadata) {
    const matches = compileMetadataMatcher(matcher);
    checks.push((_, info) => matches(info.dynamicMetadata));
  }
  checks.push(...filterState.map(compileFilterState), ...cookies.map(compileCookie));
  return checks;
}

export function compileFilterState({ key, match }: FilterStateMatcher): RequestPredicate {
  if (match.kind === 'string') {
    const matches = compileStringMatcher(match.matcher);
    return (_, info) => {
      const value = filterStateOf(info, key);
      return value !== undefined && matches(value);
    };
  }
  const contains = compileIpRanges(match.ranges);
  return (_, info) => {
    const value = filterStateOf(info, key);
    return value !== undefined && contains(value) !== match.invert;
  };
}

function compileCookie({ name, matcher, invert }: CookieMatcher): RequestPredicate {
  const matches = compileStringMatcher(matcher);
  return (headers) => {
    const value = findCookie(headers, name);
    return value !== undefined && matches(value) !== invert;
  };
}
