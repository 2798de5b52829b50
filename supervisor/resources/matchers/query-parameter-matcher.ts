/** Resolves envoy.config.route.v3.QueryParameterMatcher. */
import type { QueryParameterMatcher as QueryParameterMatcherMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { QueryParameterMatcher } from '../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveStringMatcher } from './string-matcher.ts';

const FIELDS = knownFields<QueryParameterMatcherMessage>(['name', 'string_match', 'present_match']);

export function resolveQueryParameterMatchers(
  messages: readonly QueryParameterMatcherMessage[] | undefined,
  scope: Scope,
): readonly QueryParameterMatcher[] {
  return (messages ?? []).map((message, index) => resolveOne(message, scope.at(index)));
}

function resolveOne(message: QueryParameterMatcherMessage, scope: Scope): QueryParameterMatcher {
  refuseOtherFields(message, FIELDS, scope);
  const matcher =
    message.string_match === undefined
      ? undefined
      : resolveStringMatcher(message.string_match, scope.at('string_match'));
  return {
    name: toByteString(message.name ?? ''),
    ...optional('present', message.present_match),
    ...optional('matcher', matcher),
  };
}
