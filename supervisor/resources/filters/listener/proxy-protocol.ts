/** Resolves proxy_protocol. */
import type {
  ProxyProtocol,
  ProxyProtocol_Rule,
} from '../../../../shared/api/generated/envoy/extensions/filters/listener/proxy_protocol/v3/proxy_protocol.ts';
import type { ProxyProtocolFilter } from '../../../../shared/resources/filters/listener/proxy-protocol.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolvePassedOn } from '../../proxy-tlvs.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';

const FIELDS = knownFields<ProxyProtocol>([
  'allow_requests_without_proxy_protocol',
  'disallowed_versions',
  'stat_prefix',
  'rules',
  'pass_through_tlvs',
  'tlv_location',
]);
const RULE_FIELDS = knownFields<ProxyProtocol_Rule>(['tlv_type', 'on_tlv_present']);
const OWN_NAMESPACE = 'envoy.filters.listener.proxy_protocol';

export const PROXY_PROTOCOL_FILTER = extension(
  'envoy.filters.listener.proxy_protocol',
  'envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
  resolveProxyProtocol,
);

/** Without any options. */
export const PLAIN_PROXY_PROTOCOL: ProxyProtocolFilter = {
  kind: 'proxy_protocol',
  allowsWithout: false,
  disallowedVersions: [],
  statPrefix: '',
  rules: [],
};

function resolveProxyProtocol(message: ProxyProtocol, scope: Scope): ProxyProtocolFilter {
  refuseOtherFields(message, FIELDS, scope);
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
