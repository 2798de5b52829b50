/** Resolves envoy.extensions.filters.http.header_to_metadata.v3.Config, also per route. */
import type {
  Config,
  Config_KeyValuePair as EntryMessage,
  Config_Rule as RuleMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/header_to_metadata/v3/header_to_metadata.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  HeaderToMetadataFilterSettings,
  HeaderToMetadataOptions,
  HeaderToMetadataRule,
  MetadataEntry,
} from '../../../../shared/resources/filters/http/header-to-metadata.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRewrite } from '../../matchers/regex.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.header_to_metadata.v3.Config';
const FIELDS = knownFields<Config>(['request_rules', 'response_rules', 'stat_prefix']);
const RULE_FIELDS = knownFields<RuleMessage>([
  'header',
  'cookie',
  'on_header_present',
  'on_header_missing',
  'remove',
]);
const ENTRY_FIELDS = knownFields<EntryMessage>([
  'metadata_namespace',
  'key',
  'value',
  'regex_value_rewrite',
  'type',
  'encode',
]);
const OWN_NAMESPACE = 'envoy.filters.http.header_to_metadata';

export const HEADER_TO_METADATA_FILTER = httpFilter(
  'envoy.filters.http.header_to_metadata',
  TYPE,
  (message: Config, scope, name): HeaderToMetadataFilterSettings => ({
    kind: 'header_to_metadata',
    name,
    options: resolveHeaderRules(message, scope),
  }),
  perRoute(TYPE, resolvePerRoute),
);

function resolvePerRoute(message: Config, scope: Scope): HeaderToMetadataOptions {
  const options = resolveHeaderRules(message, scope);
  if ((message.request_rules ?? []).length + (message.response_rules ?? []).length === 0) {
    scope.error(
      'conflict',
      'header_to_metadata_filter: Per filter configs must at least specify either request or response rules',
    );
  }
  return options;
}

export function resolveHeaderRules(message: Config, scope: Scope): HeaderToMetadataOptions {
  refuseOtherFields(message, FIELDS, scope);
  const rules = (field: 'request_rules' | 'response_rules'): readonly HeaderToMetadataRule[] =>
    (message[field] ?? [])
      .map((rule, index) => resolveRule(rule, scope.at(field, index)))
      .filter((rule) => rule !== undefined);
  return {
    statPrefix: message.stat_prefix ?? '',
    requestRules: rules('request_rules'),
    responseRules: rules('response_rules'),
  };
}

function resolveRule(message: RuleMessage, scope: Scope): HeaderToMetadataRule | undefined {
  refuseOtherFields(message, RULE_FIELDS, scope);
  const { on_header_present: present, on_header_missing: missing } = message;
  const source = resolveSource(message, scope);
  if (source === undefined) return undefined;
  if (present === undefined && missing === undefined) {
    scope.error(
      'conflict',
      `header to metadata filter: rule for ${source.kind} '${source.name}' has neither \`on_header_present\` nor \`on_header_missing\` set`,
    );
  }
  return {
    source,
    ...optional('onPresent', present && resolvePresent(present, scope.at('on_header_present'))),
    ...optional('onMissing', missing && resolveMissing(missing, scope.at('on_header_missing'))),
  };
}

/** Undefined after a reported problem. */
function resolveSource(
  { header = '', cookie = '', remove = false }: RuleMessage,
  scope: Scope,
): HeaderToMetadataRule['source'] | undefined {
  if (header === '' && cookie === '') {
    scope.error('conflict', 'One of Cookie or Header option needs to be specified');
    return undefined;
  }
  if (header !== '' && cookie !== '') {
    scope.error('conflict', 'Cannot specify both header and cookie in the same rule');
    return undefined;
  }
  if (header !== '') return { kind: 'header', name: asciiLower(header), removes: remove };
  if (remove) scope.at('remove').error('conflict', 'Cannot specify remove for cookie');
  return { kind: 'cookie', name: toByteString(cookie) };
}

function resolvePresent(message: EntryMessage, scope: Scope): MetadataEntry {
  const { regex_value_rewrite: rewrite, value = '' } = message;
  if (rewrite !== undefined && value !== '') {
    scope.error('conflict', 'Cannot specify both value and regex_value_rewrite');
  }
  return {
    ...resolveEntry(message, scope),
    ...optional('rewrite', rewrite && resolveRewrite(rewrite, scope.at('regex_value_rewrite'))),
  };
}

function resolveMissing(message: EntryMessage, scope: Scope): MetadataEntry {
  const { regex_value_rewrite: rewrite, value = '' } = message;
  if (value === '') {
    scope.error('conflict', 'Cannot specify on_header_missing rule with an empty value');
  }
  if (rewrite !== undefined) {
    scope
      .at('regex_value_rewrite')
      .warning('no_effect', 'nothing is rewritten where the header is missing');
  }
  return resolveEntry(message, scope);
}

function resolveEntry(message: EntryMessage, scope: Scope): MetadataEntry {
  refuseOtherFields(message, ENTRY_FIELDS, scope);
  const { metadata_namespace: namespace = '', key = '', value = '', type } = message;
  return {
    namespace: namespace === '' ? OWN_NAMESPACE : namespace,
    key,
    ...optional('value', value === '' ? undefined : toByteString(value)),
    type: type === 'NUMBER' ? 'number' : type === 'PROTOBUF_VALUE' ? 'protobuf' : 'string',
    isBase64: message.encode === 'BASE64',
  };
}
