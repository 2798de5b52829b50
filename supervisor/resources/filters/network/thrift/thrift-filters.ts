/** Resolves the filters of the Thrift proxy. */
import type {
  HeaderToMetadata,
  HeaderToMetadata_Rule as HeaderRule,
} from '../../../../../shared/api/generated/envoy/extensions/filters/network/thrift_proxy/filters/header_to_metadata/v3/header_to_metadata.ts';
import type {
  PayloadToMetadata,
  PayloadToMetadata_FieldSelector as FieldSelector,
  PayloadToMetadata_KeyValuePair as EntryMessage,
  PayloadToMetadata_Rule as PayloadRule,
} from '../../../../../shared/api/generated/envoy/extensions/filters/network/thrift_proxy/filters/payload_to_metadata/v3/payload_to_metadata.ts';
import type {
  ThriftEntry,
  ThriftRule,
} from '../../../../../shared/resources/filters/http/matching/thrift-to-metadata.ts';
import type { ThriftFilter } from '../../../../../shared/resources/filters/network/thrift-proxy.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { resolveHeaderRules } from '../../http/header-to-metadata.ts';

const TYPE = 'envoy.extensions.filters.network.thrift_proxy';
const HEADER_FIELDS = knownFields<HeaderRule>(['header', 'on_present', 'on_missing', 'remove']);
const RULE_FIELDS = knownFields<PayloadRule>([
  'method_name',
  'service_name',
  'field_selector',
  'on_present',
  'on_missing',
]);
const ENTRY_FIELDS = knownFields<EntryMessage>(['metadata_namespace', 'key', 'value', 'type']);
const SELECTOR_FIELDS = knownFields<FieldSelector>(['name', 'id', 'child']);
const OWN_NAMESPACE = 'envoy.filters.thrift.payload_to_metadata';

/** The router has nothing to say beyond being there. */
export const THRIFT_FILTERS = new ExtensionRegistry<ThriftFilter | { readonly kind: 'router' }>(
  'envoy.thrift_proxy.filters',
  'thrift filter',
  {
    router: extension(
      'envoy.filters.thrift.router',
      `${TYPE}.router.v3.Router`,
      (message, scope) => {
        refuseOtherFields(message, knownFields<object>([]), scope);
        return { kind: 'router' };
      },
    ),
    header_to_metadata: extension(
      'envoy.filters.thrift.header_to_metadata',
      `${TYPE}.filters.header_to_metadata.v3.HeaderToMetadata`,
      (message: HeaderToMetadata, scope) => ({
        kind: 'header_to_metadata',
        options: resolveHeaders(message, scope),
      }),
    ),
    payload_to_metadata: extension(
      'envoy.filters.thrift.payload_to_metadata',
      `${TYPE}.filters.payload_to_metadata.v3.PayloadToMetadata`,
      (message: PayloadToMetadata, scope) => ({
        kind: 'payload_to_metadata',
        rules: (message.request_rules ?? []).map((rule, index) =>
          resolvePayload(rule, scope.at('request_rules', index)),
        ),
      }),
    ),
  },
);

function resolveHeaders(
  message: HeaderToMetadata,
  scope: Scope,
): Extract<ThriftFilter, { readonly kind: 'header_to_metadata' }>['options'] {
  const rules = (message.request_rules ?? []).map((rule, index) => {
    refuseOtherFields(rule, HEADER_FIELDS, scope.at('request_rules', index));
    const { on_present: present, on_missing: missing, ...rest } = rule;
    return {
      ...rest,
      ...optional('on_header_present', present),
      ...optional('on_header_missing', missing),
    };
  });
  return resolveHeaderRules({ request_rules: rules }, scope);
}

function resolvePayload(message: PayloadRule, scope: Scope): ThriftRule {
  refuseOtherFields(message, RULE_FIELDS, scope);
  const { on_present: present, on_missing: missing, field_selector: selector } = message;
  const { method_name: method = '', service_name: service = '' } = message;
  return {
    source: { kind: 'field', path: pathOf(selector ?? {}, scope.at('field_selector')) },
    method,
    ...optional('service', service === '' ? undefined : withColon(service)),
    ...optional('onPresent', present && resolveEntry(present, scope.at('on_present'))),
    ...optional('onMissing', missing && resolveEntry(missing, scope.at('on_missing'))),
  };
}

/** Services stand in front of methods with a colon. */
export function withColon(service: string): string {
  return service === '' || service.endsWith(':') ? service : `${service}:`;
}

function pathOf(message: FieldSelector, scope: Scope): readonly number[] {
  refuseOtherFields(message, SELECTOR_FIELDS, scope);
  const { id = 0, child } = message;
  return [id, ...(child === undefined ? [] : pathOf(child, scope.at('child')))];
}

function resolveEntry(message: EntryMessage, scope: Scope): ThriftEntry {
  refuseOtherFields(message, ENTRY_FIELDS, scope);
  const { metadata_namespace: namespace = '', key = '', value = '', type } = message;
  const constant = type === 'NUMBER' ? Number(value) : value;
  return {
    namespace: namespace === '' ? OWN_NAMESPACE : namespace,
    key,
    ...optional('constant', value === '' ? undefined : { value: constant }),
  };
}
