/** The registry of listener filters, which see a connection before its filter chain is chosen. */
import type {
  ListenerFilter as FilterMessage,
  ListenerFilterChainMatchPredicate as Predicate,
} from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type {
  ProxyProtocol,
  ProxyProtocol_Rule,
} from '../../../shared/api/generated/envoy/extensions/filters/listener/proxy_protocol/v3/proxy_protocol.ts';
import type { TlsInspector } from '../../../shared/api/generated/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.ts';
import type {
  ListenerFilter,
  PortPredicate,
  ProxyProtocolFilter,
} from '../../../shared/resources/listener-filters.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolvePassedOn } from '../proxy-tlvs.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<FilterMessage>(['name', 'typed_config', 'filter_disabled']);
/** The sizes bound a buffer of Envoy's; here the limit stands. */
const TLS_FIELDS = knownFields<TlsInspector>(
  [],
  ['initial_read_buffer_size', 'max_client_hello_size'],
);
const PROXY_FIELDS = knownFields<ProxyProtocol>([
  'allow_requests_without_proxy_protocol',
  'disallowed_versions',
  'stat_prefix',
  'rules',
  'pass_through_tlvs',
  'tlv_location',
]);
const RULE_FIELDS = knownFields<ProxyProtocol_Rule>(['tlv_type', 'on_tlv_present']);
const OWN_NAMESPACE = 'envoy.filters.listener.proxy_protocol';
const TYPE = 'envoy.extensions.filters.listener';

export const LISTENER_FILTERS = new ExtensionRegistry<ListenerFilter>(
  'envoy.filters.listener',
  'listener filter',
  [
    extension(
      'envoy.filters.listener.http_inspector',
      `${TYPE}.http_inspector.v3.HttpInspector`,
      () => ({ kind: 'http_inspector' }) as const,
    ),
    extension(
      'envoy.filters.listener.original_dst',
      `${TYPE}.original_dst.v3.OriginalDst`,
      () => ({ kind: 'original_dst' }) as const,
    ),
    extension(
      'envoy.filters.listener.proxy_protocol',
      `${TYPE}.proxy_protocol.v3.ProxyProtocol`,
      resolveProxyProtocol,
    ),
    extension(
      'envoy.filters.listener.tls_inspector',
      `${TYPE}.tls_inspector.v3.TlsInspector`,
      (message: TlsInspector, scope) => {
        refuseOtherFields(message, TLS_FIELDS, scope);
        return { kind: 'tls_inspector' } as const;
      },
    ),
  ],
);

export function resolveListenerFilters(
  messages: readonly FilterMessage[],
  scope: Scope,
): readonly ListenerFilter[] {
  const filters = messages.map((message, index) => {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    const filter = LISTENER_FILTERS.resolve(message, place);
    if (message.filter_disabled === undefined || filter === undefined) return filter;
    const condition = place.at('filter_disabled');
    if (filter.kind === 'original_dst') condition.unsupported(`a condition of '${filter.kind}' is`);
    return { ...filter, disabled: resolvePorts(message.filter_disabled) };
  });
  return filters.filter((filter) => filter !== undefined);
}

function resolvePorts(message: Predicate): PortPredicate {
  const { or_match: or, and_match: and, not_match: not, destination_port_range: ports } = message;
  const all = ({ rules = [] }: { readonly rules?: readonly Predicate[] }) =>
    rules.map((rule) => resolvePorts(rule));
  if (or !== undefined) return { kind: 'or', rules: all(or) };
  if (and !== undefined) return { kind: 'and', rules: all(and) };
  if (not !== undefined) return { kind: 'not', rule: resolvePorts(not) };
  if (ports !== undefined) return { kind: 'range', start: ports.start ?? 0, end: ports.end ?? 0 };
  return { kind: 'any' };
}

function resolveProxyProtocol(message: ProxyProtocol, scope: Scope): ProxyProtocolFilter {
  refuseOtherFields(message, PROXY_FIELDS, scope);
  if (message.tlv_location === 'FILTER_STATE') {
    scope.at('tlv_location').unsupported('tlv_location FILTER_STATE is');
  }
  const { disallowed_versions: disallowed = [] } = message;
  return {
    kind: 'proxy_protocol',
    allowsWithout: message.allow_requests_without_proxy_protocol ?? false,
    disallowedVersions: disallowed.map((version) => (version === 'V2' ? 'v2' : 'v1')),
    statPrefix: message.stat_prefix ?? '',
    rules: (message.rules ?? []).map((rule, index) => resolveRule(rule, scope.at('rules', index))),
    ...optional(
      'passedOn',
      resolvePassedOn(message.pass_through_tlvs, scope.at('pass_through_tlvs')),
    ),
  };
}

function resolveRule(
  message: ProxyProtocol_Rule,
  scope: Scope,
): ProxyProtocolFilter['rules'][number] {
  refuseOtherFields(message, RULE_FIELDS, scope);
  const { tlv_type: type = 0, on_tlv_present: found = {} } = message;
  const { metadata_namespace: namespace = '', key = '' } = found;
  return {
    type,
    namespace: namespace === '' ? OWN_NAMESPACE : namespace,
    key,
    encoding: found.value_string_encoding === 'BASE64' ? 'base64' : 'utf8',
  };
}
