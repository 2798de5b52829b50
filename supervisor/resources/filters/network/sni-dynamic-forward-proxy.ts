/** Resolves sni_dynamic_forward_proxy. */
import type { FilterConfig } from '../../../../shared/api/generated/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy.ts';
import type { OfKind } from '../../../../shared/resources/by-kind.ts';
import type { NetworkFilter } from '../../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<FilterConfig>(
  ['port_value', 'dns_cache_config'],
  // Kept for filters that no setting here names.
  ['save_upstream_address'],
);

export const SNI_FORWARD_PROXY_FILTER = networkFilter(
  'envoy.filters.network.sni_dynamic_forward_proxy',
  'envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig',
  false,
  resolveSniForwardProxy,
);

/** The names are looked up by the cluster of the TCP proxy behind it, see `aimAtClusters`. */
function resolveSniForwardProxy(
  message: FilterConfig,
  scope: Scope,
): OfKind<NetworkFilter, 'sni_dynamic_forward_proxy'> {
  refuseOtherFields(message, FIELDS, scope);
  return { kind: 'sni_dynamic_forward_proxy', clusters: [], port: message.port_value ?? 0 };
}
