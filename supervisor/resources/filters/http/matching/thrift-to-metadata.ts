/** Resolves envoy.extensions.filters.http.thrift_to_metadata.v3.ThriftToMetadata. */
import type {
  FieldSelector,
  KeyValuePair,
  Rule,
  ThriftToMetadata,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/thrift_to_metadata/v3/thrift_to_metadata.ts';
import {
  THRIFT_FACTS,
  type ThriftEntry,
  type ThriftRule,
  type ThriftToMetadataFilterSettings,
  type ThriftToMetadataOptions,
} from '../../../../../shared/resources/filters/http/matching/thrift-to-metadata.ts';
import type {
  ThriftProtocol,
  ThriftTransport,
} from '../../../../../shared/thrift/thrift-message.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<ThriftToMetadata>([
  'request_rules',
  'response_rules',
  'transport',
  'protocol',
  'allow_content_types',
  'allow_empty_content_type',
]);
const RULE_FIELDS = knownFields<Rule>([
  'field',
  'field_selector',
  'method_name',
  'on_present',
  'on_missing',
]);
const ENTRY_FIELDS = knownFields<KeyValuePair>(['metadata_namespace', 'key', 'value']);
const SELECTOR_FIELDS = knownFields<FieldSelector>(['name', 'id', 'child']);
const OWN_NAMESPACE = 'envoy.filters.http.thrift_to_metadata';
const CONTENT_TYPE = 'application/x-thrift';

const TRANSPORTS = new Map<unknown, ThriftTransport>([
  ['FRAMED', 'framed'],
  ['UNFRAMED', 'unframed'],
  ['HEADER', 'header'],
]);
const PROTOCOLS = new Map<unknown, ThriftProtocol>([
  ['BINARY', 'binary'],
  ['LAX_BINARY', 'binary/non-strict'],
  ['COMPACT', 'compact'],
]);

export function thriftTransportOf(transport: unknown): ThriftTransport {
  return TRANSPORTS.get(transport) ?? 'auto';
}

export function thriftProtocolOf(protocol: unknown): ThriftProtocol {
  return PROTOCOLS.get(protocol) ?? 'auto';
}

export const THRIFT_TO_METADATA_FILTER = httpFilter(
  'envoy.filters.http.thrift_to_metadata',
  'envoy.extensions.filters.http.thrift_to_metadata.v3.ThriftToMetadata',
  (message: ThriftToMetadata, scope, name): ThriftToMetadataFilterSettings => ({
    kind: 'thrift_to_metadata',
    name,
    options: resolveOptions(message, scope),
  }),
);

function resolveOptions(message: ThriftToMetadata, scope: Scope): ThriftToMetadataOptions {
  refuseOtherFields(message, FIELDS, scope);
  const rules = (field: 'request_rules' | 'response_rules'): readonly ThriftRule[] =>
    (message[field] ?? []).map((rule, index) => resolveRule(rule, scope.at(field, index)));
  const requestRules = rules('request_rules');
  const responseRules = rules('response_rules');
  if (requestRules.length + responseRules.length === 0) {
    scope.error(
      'conflict',
      'thrift_to_metadata filter: Per filter configs must at least specify either request or response rules',
    );
  }
  if (message.protocol === 'TWITTER') {
    scope
      .at('protocol')
      .error('conflict', 'thrift_to_metadata filter: Protocol TWITTER is not supported');
  }
  const { allow_content_types: types = [] } = message;
  return {
    requestRules,
    responseRules,
    transport: thriftTransportOf(message.transport),
    protocol: thriftProtocolOf(message.protocol),
    contentTypes: types.length === 0 ? [CONTENT_TYPE] : types,
    allowsNoContentType: message.allow_empty_content_type ?? false,
  };
}

function resolveRule(message: Rule, scope: Scope): ThriftRule {
  refuseOtherFields(message, RULE_FIELDS, scope);
  const { on_present: present, on_missing: missing, field_selector: selector } = message;
  if (present === undefined && missing === undefined) {
    scope.error('conflict', 'thrift to metadata filter: neither `on_present` nor `on_missing` set');
  }
  if (missing !== undefined && missing.value === undefined) {
    scope
      .at('on_missing')
      .error(
        'conflict',
        'thrift to metadata filter: cannot specify on_missing rule with empty value',
      );
  }
  const fact = THRIFT_FACTS.find((name) => name === message.field) ?? 'METHOD_NAME';
  return {
    source:
      selector === undefined
        ? { kind: 'fact', fact }
        : { kind: 'field', path: pathOf(selector, scope.at('field_selector')) },
    method: message.method_name ?? '',
    ...optional('onPresent', present && resolveEntry(present, scope.at('on_present'))),
    ...optional('onMissing', missing && resolveEntry(missing, scope.at('on_missing'))),
  };
}

function pathOf(message: FieldSelector, scope: Scope): readonly number[] {
  refuseOtherFields(message, SELECTOR_FIELDS, scope);
  const { id = 0, child } = message;
  return [id, ...(child === undefined ? [] : pathOf(child, scope.at('child')))];
}

function resolveEntry(message: KeyValuePair, scope: Scope): ThriftEntry {
  refuseOtherFields(message, ENTRY_FIELDS, scope);
  const { metadata_namespace: namespace = '', key = '', value } = message;
  return {
    namespace: namespace === '' ? OWN_NAMESPACE : namespace,
    key,
    ...optional('constant', value === undefined ? undefined : { value }),
  };
}
