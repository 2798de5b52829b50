/** Resolves the PROXY protocol's header that connections to a cluster's hosts begin with. */
import type {
  ProxyProtocolConfig,
  TlvEntry,
} from '../../../shared/api/generated/envoy/config/core/v3/proxy_protocol.ts';
import type { ProxyProtocolUpstreamTransport } from '../../../shared/api/generated/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol.ts';
import type { ProxyProtocolSender } from '../../../shared/resources/clusters/proxy-protocol.ts';
import type { UpstreamSocketOptions } from '../../../shared/resources/transport-sockets.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolvePassedOn } from '../proxy-tlvs.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<ProxyProtocolUpstreamTransport>(['config', 'transport_socket']);
const CONFIG_FIELDS = knownFields<ProxyProtocolConfig>([
  'version',
  'added_tlvs',
  'pass_through_tlvs',
]);
const TLV_FIELDS = knownFields<TlvEntry>(['type', 'value']);

export function behindProxyProtocol(
  inner: UpstreamSocketOptions,
  message: ProxyProtocolUpstreamTransport,
  scope: Scope,
): UpstreamSocketOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { config = {} } = message;
  return { ...inner, proxyProtocol: resolveProxySender(config, scope.at('config')) };
}

/** The header itself, which health checks write, too. */
export function resolveProxySender(
  message: ProxyProtocolConfig,
  scope: Scope,
): ProxyProtocolSender {
  refuseOtherFields(message, CONFIG_FIELDS, scope);
  const tlvs = (message.added_tlvs ?? []).map((tlv, index) => {
    refuseOtherFields(tlv, TLV_FIELDS, scope.at('added_tlvs', index));
    return { type: tlv.type ?? 0, value: tlv.value ?? '' };
  });
  const { pass_through_tlvs: passed } = message;
  return {
    version: message.version === 'V2' ? 'V2' : 'V1',
    tlvs,
    ...optional('passedOn', resolvePassedOn(passed, scope.at('pass_through_tlvs'))),
  };
}
