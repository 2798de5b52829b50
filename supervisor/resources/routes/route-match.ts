/** Resolves envoy.config.route.v3.RouteMatch: which requests a route is for. */
import type {
  CookieMatcher as CookieMessage,
  RouteMatch as RouteMatchMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { CookieMatcher } from '../../../shared/resources/routes/matchers.ts';
import type { PathMatch, RouteMatch } from '../../../shared/resources/routes/route.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveRuntimeFraction } from '../matchers/fraction.ts';
import { resolveFilterStateMatcher } from '../matchers/filter-state-matcher.ts';
import { resolveHeaderMatchers } from '../matchers/header-matcher.ts';
import { resolveQueryParameterMatchers } from '../matchers/query-parameter-matcher.ts';
import { resolveRegex } from '../matchers/regex.ts';
import { resolveStringMatcher } from '../matchers/string-matcher.ts';
import { resolveMetadataMatchers } from '../matchers/value-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolvePathTemplate } from './path-templates.ts';

const FIELDS = knownFields<RouteMatchMessage>([
  'prefix',
  'path',
  'safe_regex',
  'connect_matcher',
  'path_separated_prefix',
  'path_match_policy',
  'case_sensitive',
  'runtime_fraction',
  'headers',
  'query_parameters',
  'grpc',
  'tls_context',
  'dynamic_metadata',
  'filter_state',
  'cookies',
]);
const COOKIE_FIELDS = knownFields<CookieMessage>(['name', 'string_match', 'invert_match']);

/** Undefined after a reported problem. */
export function resolveRouteMatch(
  message: RouteMatchMessage,
  scope: Scope,
): RouteMatch | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const path = resolvePath(message, scope);
  const fraction = message.runtime_fraction;
  const headers = resolveHeaderMatchers(message.headers, scope.at('headers'));
  const queryParameters = resolveQueryParameterMatchers(
    message.query_parameters,
    scope.at('query_parameters'),
  );
  if (path === undefined) return undefined;
  return {
    path,
    caseSensitive: message.case_sensitive ?? true,
    headers,
    queryParameters,
    ...optional(
      'runtimeFraction',
      fraction === undefined ? undefined : resolveRuntimeFraction(fraction),
    ),
    grpcOnly: message.grpc !== undefined,
    ...optional('tls', message.tls_context),
    ...resolveStreamConditions(message, scope),
  };
}

/** What does not depend on the path; absent where nothing is asked for, as with most routes. */
function resolveStreamConditions(
  message: RouteMatchMessage,
  scope: Scope,
): Pick<RouteMatch, 'dynamicMetadata' | 'filterState' | 'cookies'> {
  const { dynamic_metadata: metadata, filter_state: states, cookies } = message;
  const place = scope.at('filter_state');
  const matchers = states?.map((state, index) => resolveFilterStateMatcher(state, place.at(index)));
  return {
    ...optional(
      'dynamicMetadata',
      metadata && resolveMetadataMatchers(metadata, scope.at('dynamic_metadata')),
    ),
    ...optional(
      'filterState',
      matchers?.filter((matcher) => matcher !== undefined),
    ),
    ...optional('cookies', cookies && resolveCookies(cookies, scope.at('cookies'))),
  };
}

function resolveCookies(
  messages: readonly CookieMessage[],
  scope: Scope,
): readonly CookieMatcher[] {
  return messages.flatMap((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, COOKIE_FIELDS, place);
    const matcher = resolveStringMatcher(message.string_match ?? {}, place.at('string_match'));
    const { name = '', invert_match: invert = false } = message;
    return matcher === undefined ? [] : [{ name: toByteString(name), matcher, invert }];
  });
}

function resolvePath(message: RouteMatchMessage, scope: Scope): PathMatch | undefined {
  for (const kind of ['prefix', 'path', 'path_separated_prefix'] as const) {
    const value = message[kind];
    if (value !== undefined) return { kind, value: toByteString(value) };
  }
  if (message.safe_regex !== undefined) {
    const regex = resolveRegex(message.safe_regex, scope.at('safe_regex'));
    return regex === undefined ? undefined : { kind: 'regex', regex };
  }
  if (message.path_match_policy !== undefined) {
    const place = scope.at('path_match_policy');
    const template = resolvePathTemplate(message.path_match_policy, place);
    return template === undefined ? undefined : { kind: 'template', template };
  }
  return message.connect_matcher === undefined ? undefined : { kind: 'connect' };
}
