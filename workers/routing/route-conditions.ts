/** Compiles what a route asks of a request besides its path: headers, parameters, metadata, TLS. */
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import type { FailedCondition } from '../../shared/explain/explanation.ts';
import { compileHeaderMatcher } from '../../shared/matchers/header-matcher.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import { compileMetadataMatcher } from '../matching/value-matcher.ts';
import type { CookieMatcher, FilterStateMatcher } from '../../shared/resources/routes/matchers.ts';
import type { RouteMatch } from '../../shared/resources/routes/route.ts';
import { findCookie } from '../stream/cookies.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';
import { queryValue } from '../stream/query.ts';
import {
  failed,
  fractionText,
  headerText,
  parameterText,
  quoted,
  stringText,
} from './explained/describe-match.ts';
import { compileQueryMatcher } from './query-matcher.ts';

type RequestPredicate = (headers: HeaderMap, info: StreamInfo) => boolean;

/** One thing that a route asks of a request. */
export interface Condition {
  readonly passes: RequestPredicate;
  /** What it is, what it wants and what the request has, for people who ask why it fails. */
  describe(headers: HeaderMap, info: StreamInfo): FailedCondition;
}

/** Everything but the path, cheapest first; undefined when the path alone decides. */
export function compileConditions(
  match: RouteMatch,
  runtime: Runtime,
): RequestPredicate | undefined {
  const checks = conditionsOf(match, runtime).map(({ passes }) => passes);
  const [only] = checks;
  if (checks.length <= 1) return only;
  return (headers, info) => {
    for (const check of checks) if (!check(headers, info)) return false;
    return true;
  };
}

/** In the order in which they are asked. */
export function conditionsOf(match: RouteMatch, runtime: Runtime): readonly Condition[] {
  return [...requestConditions(match, runtime), ...streamConditions(match)];
}

function requestConditions(match: RouteMatch, runtime: Runtime): Condition[] {
  const { grpcOnly, runtimeFraction } = match;
  const conditions: Condition[] = [];
  if (runtimeFraction !== undefined) {
    conditions.push({
      passes: () => isEnabled(runtimeFraction, runtime, runtime.random()),
      describe: () => failed('runtime fraction', fractionText(runtimeFraction), 'drawn at random'),
    });
  }
  if (grpcOnly) {
    conditions.push({
      passes: (headers) => isGrpcContentType(headers.get('content-type')),
      describe: (headers) =>
        failed('grpc', 'a content-type of gRPC', quoted(headers.get('content-type'))),
    });
  }
  for (const matcher of match.headers) {
    conditions.push({
      passes: compileHeaderMatcher(matcher),
      describe: (headers) =>
        failed(`header ${matcher.name}`, headerText(matcher), quoted(headers.getAll(matcher.name))),
    });
  }
  for (const matcher of match.queryParameters) {
    const matches = compileQueryMatcher(matcher);
    conditions.push({
      passes: (headers) => matches(queryOf(headers)),
      describe: (headers) =>
        failed(
          `query parameter ${matcher.name}`,
          parameterText(matcher),
          quoted(queryValue(queryOf(headers), matcher.name)),
        ),
    });
  }
  return conditions;
}

function queryOf({ path }: HeaderMap): string {
  const mark = path.indexOf('?');
  return mark < 0 ? '' : path.slice(mark + 1);
}

function streamConditions(match: RouteMatch): Condition[] {
  const { tls, dynamicMetadata = [], filterState = [], cookies = [] } = match;
  const conditions: Condition[] = [];
  if (tls !== undefined) {
    conditions.push({
      passes: (_, { connection }) => {
        const { presented, validated } = tls;
        const isPresented = connection.tls?.peer !== undefined;
        const isValidated = isPresented && connection.tls?.isPeerVerified === true;
        return (
          (presented ?? isPresented) === isPresented && (validated ?? isValidated) === isValidated
        );
      },
      describe: () => failed('client certificate', JSON.stringify(tls), 'none'),
    });
  }
  for (const matcher of dynamicMetadata) {
    const matches = compileMetadataMatcher(matcher);
    conditions.push({
      passes: (_, info) => matches(info.dynamicMetadata),
      describe: () =>
        failed(
          `dynamic metadata ${[matcher.namespace, ...matcher.path].join('.')}`,
          'a value that filters set',
          'not known before filters run',
        ),
    });
  }
  for (const matcher of filterState) {
    conditions.push({
      passes: compileFilterState(matcher),
      describe: (_, info) =>
        failed(
          `filter state ${matcher.key}`,
          'a value that filters set',
          quoted(filterStateOf(info, matcher.key)),
        ),
    });
  }
  for (const matcher of cookies) {
    conditions.push({
      passes: compileCookie(matcher),
      describe: (headers) =>
        failed(
          `cookie ${matcher.name}`,
          `${matcher.invert ? 'not ' : ''}${stringText(matcher.matcher)}`,
          quoted(findCookie(headers, matcher.name)),
        ),
    });
  }
  return conditions;
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
