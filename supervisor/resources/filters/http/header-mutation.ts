/** Resolves envoy.extensions.filters.http.header_mutation.v3, for a chain and per route. */
import type { HeaderMutation as RuleMessage } from '../../../../shared/api/generated/envoy/config/common/mutation_rules/v3/mutation_rules.ts';
import type {
  HeaderMutation,
  HeaderMutationPerRoute,
  Mutations,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/header_mutation/v3/header_mutation.ts';
import type { KeyValueMutation } from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import { checkFormat } from '../../access-logs/format.ts';
import type {
  QueryAppendAction,
  QueryMutationRule,
  HeaderMutationOptions,
  HeaderMutationRule,
  HeaderMutationFilterSettings,
} from '../../../../shared/resources/filters/http/header-mutation.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { asciiLower, resolveStringMatcher } from '../../matchers/string-matcher.ts';
import { resolveHeaderValue } from '../../routes/header-changes.ts';
import type { Scope } from '../../scope.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FIELDS = knownFields<HeaderMutation>(['mutations', 'most_specific_header_mutations_wins']);
const MUTATION_FIELDS = knownFields<Mutations>([
  'request_mutations',
  'response_mutations',
  'query_parameter_mutations',
  'request_trailers_mutations',
  'response_trailers_mutations',
]);
const RULE_FIELDS = knownFields<RuleMessage>(['remove', 'append', 'remove_on_match']);

const HEADER_MUTATION_PER_ROUTE_TYPE =
  'envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute';

export const HEADER_MUTATION_FILTER = httpFilter(
  'envoy.filters.http.header_mutation',
  'envoy.extensions.filters.http.header_mutation.v3.HeaderMutation',
  (message: HeaderMutation, scope, name): HeaderMutationFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return { kind: 'header_mutation', name, options: resolveMutations(message, scope) };
  },
  perRoute(HEADER_MUTATION_PER_ROUTE_TYPE, resolveMutations),
);

function resolveMutations(
  message: HeaderMutation | HeaderMutationPerRoute,
  scope: Scope,
): HeaderMutationOptions {
  const { mutations = {} } = message;
  const place = scope.at('mutations');
  refuseOtherFields(mutations, MUTATION_FIELDS, place);
  return {
    query: resolveQueryRules(
      mutations.query_parameter_mutations,
      place.at('query_parameter_mutations'),
    ),
    request: resolveHeaderRules(mutations.request_mutations, place.at('request_mutations')),
    requestTrailers: resolveHeaderRules(
      mutations.request_trailers_mutations,
      place.at('request_trailers_mutations'),
    ),
    response: resolveHeaderRules(mutations.response_mutations, place.at('response_mutations')),
    responseTrailers: resolveHeaderRules(
      mutations.response_trailers_mutations,
      place.at('response_trailers_mutations'),
    ),
    mostSpecificWins:
      'most_specific_header_mutations_wins' in message &&
      message.most_specific_header_mutations_wins === true,
  };
}

const ACTIONS = new Map<string, QueryAppendAction>([
  ['APPEND_IF_EXISTS_OR_ADD', 'append'],
  ['ADD_IF_ABSENT', 'add_if_absent'],
  ['OVERWRITE_IF_EXISTS_OR_ADD', 'overwrite'],
  ['OVERWRITE_IF_EXISTS', 'overwrite_if_exists'],
]);

/** Problems in Envoy's words. */
function resolveQueryRules(
  messages: readonly KeyValueMutation[] | undefined,
  scope: Scope,
): readonly QueryMutationRule[] {
  return (messages ?? []).flatMap(({ append, remove = '' }, index): QueryMutationRule[] => {
    const place = scope.at(index);
    if (append === undefined) {
      if (remove !== '') return [{ kind: 'remove', key: toByteString(remove) }];
      place.error('conflict', "One of 'append'/'remove' must be specified.");
      return [];
    }
    const { record } = append;
    if (record === undefined) {
      place.error('conflict', 'No record specified for append mutation.');
      return [];
    }
    if (typeof record.value !== 'string') {
      place.error('conflict', 'Only string value is allowed for record value.');
      return [];
    }
    const format = checkFormat(record.value, place.at('append', 'record', 'value'));
    const action = ACTIONS.get(String(append.action)) ?? 'append';
    return [{ kind: 'append', action, key: toByteString(record.key ?? ''), format }];
  });
}

export function resolveHeaderRules(
  messages: readonly RuleMessage[] | undefined,
  scope: Scope,
): readonly HeaderMutationRule[] {
  return (messages ?? []).flatMap((message, index): HeaderMutationRule[] => {
    refuseOtherFields(message, RULE_FIELDS, scope.at(index));
    if (message.remove !== undefined) return [{ kind: 'remove', name: asciiLower(message.remove) }];
    const { remove_on_match: onMatch } = message;
    if (onMatch !== undefined) {
      const place = scope.at(index, 'remove_on_match', 'key_matcher');
      const matcher = resolveStringMatcher(onMatch.key_matcher ?? {}, place);
      return matcher === undefined ? [] : [{ kind: 'remove_on_match', matcher }];
    }
    if (message.append === undefined) return [];
    const option = resolveHeaderValue(message.append, scope.at(index, 'append'));
    return [{ kind: 'append', option }];
  });
}
