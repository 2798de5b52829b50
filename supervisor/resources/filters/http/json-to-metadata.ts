/** Resolves envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata, also per route. */
import type {
  JsonToMetadata,
  JsonToMetadata_KeyValuePair as EntryMessage,
  JsonToMetadata_MatchRules as RulesMessage,
  JsonToMetadata_Rule as RuleMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/json_to_metadata/v3/json_to_metadata.ts';
import type {
  JsonEntry,
  JsonRule,
  JsonRules,
  JsonToMetadataFilterSettings,
  JsonToMetadataOptions,
} from '../../../../shared/resources/filters/http/json-to-metadata.ts';
import { structOf } from '../../../../shared/text/dictionary.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRegex } from '../../matchers/regex.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const NAME = 'envoy.filters.http.json_to_metadata';
const TYPE = 'envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata';
const FIELDS = knownFields<JsonToMetadata>(['request_rules', 'response_rules']);
const RULES_FIELDS = knownFields<RulesMessage>([
  'rules',
  'allow_content_types',
  'allow_empty_content_type',
  'allow_content_types_regex',
]);
const RULE_FIELDS = knownFields<RuleMessage>(['selectors', 'on_present', 'on_missing', 'on_error']);
const ENTRY_FIELDS = knownFields<EntryMessage>([
  'metadata_namespace',
  'key',
  'value',
  'type',
  'preserve_existing_metadata_value',
]);
const DEFAULT_TYPE = 'application/json';

export const JSON_TO_METADATA_FILTER = httpFilter(
  NAME,
  TYPE,
  (message: JsonToMetadata, scope, name): JsonToMetadataFilterSettings => ({
    kind: 'json_to_metadata',
    name,
    options: resolveOptions(message, scope),
  }),
  perRoute(TYPE, resolvePerRoute),
);

function resolvePerRoute(message: JsonToMetadata, scope: Scope): JsonToMetadataOptions {
  if (message.request_rules === undefined && message.response_rules === undefined) {
    scope.error(
      'conflict',
      'json_to_metadata_filter: Per filter configs must at least specify either request or response rules',
    );
  }
  return resolveOptions(message, scope);
}

function resolveOptions(message: JsonToMetadata, scope: Scope): JsonToMetadataOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { request_rules: request, response_rules: response } = message;
  return {
    ...optional('request', request && resolveRules(request, scope.at('request_rules'))),
    ...optional('response', response && resolveRules(response, scope.at('response_rules'))),
  };
}

function resolveRules(message: RulesMessage, scope: Scope): JsonRules {
  refuseOtherFields(message, RULES_FIELDS, scope);
  const { rules = [], allow_content_types: types = [] } = message;
  const { allow_content_types_regex: regex } = message;
  return {
    rules: rules.map((rule, index) => resolveRule(rule, scope.at('rules', index))),
    contentTypes: types.length === 0 ? [DEFAULT_TYPE] : types,
    ...optional(
      'contentTypeRegex',
      regex && resolveRegex(regex, scope.at('allow_content_types_regex')),
    ),
    allowsEmptyType: message.allow_empty_content_type ?? false,
  };
}

/** What names no namespace is written to `own`. */
export function resolveRule(message: RuleMessage, scope: Scope, own = NAME): JsonRule {
  refuseOtherFields(message, RULE_FIELDS, scope);
  const { on_present: present, on_missing: missing, on_error: error } = message;
  if (present === undefined && missing === undefined && error === undefined) {
    scope.error(
      'conflict',
      'json to metadata filter: neither `on_present` nor `on_missing` nor `on_error` set',
    );
  }
  for (const field of ['on_missing', 'on_error'] as const) {
    if (message[field] === undefined || message[field].value !== undefined) continue;
    scope
      .at(field)
      .error('conflict', `json to metadata filter: cannot specify ${field} rule with empty value`);
  }
  return {
    path: (message.selectors ?? []).map(({ key = '' }) => key),
    ...optional('onPresent', present && resolveEntry(present, scope.at('on_present'), own)),
    ...optional('onMissing', missing && resolveEntry(missing, scope.at('on_missing'), own)),
    ...optional('onError', error && resolveEntry(error, scope.at('on_error'), own)),
  };
}

function resolveEntry(message: EntryMessage, scope: Scope, own: string): JsonEntry {
  refuseOtherFields(message, ENTRY_FIELDS, scope);
  const { metadata_namespace: namespace = '', key = '', value, type } = message;
  return {
    namespace: namespace === '' ? own : namespace,
    key,
    ...(value === undefined ? {} : { constant: structOf({ value }) as { value: unknown } }),
    type: type === 'STRING' ? 'string' : type === 'NUMBER' ? 'number' : 'protobuf',
    preserves: message.preserve_existing_metadata_value ?? false,
  };
}
