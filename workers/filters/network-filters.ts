/** Every network filter that may stand in front of a chain's last one: one row each. */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { GateFilter } from '../../shared/resources/filters/network-filters.ts';
import type { NetworkFilterContext } from './network-filter-context.ts';
import type { NetworkGate } from './network-gate.ts';
import { makeConnectionLimitGate } from './network/connection-limit.ts';
import { makeExtAuthzGate } from './network/ext-authz.ts';
import { makeGeoipGate } from './network/geoip.ts';
import { makeRateLimitGate } from './network/local-rate-limit.ts';
import { makeAskedRateLimitGate } from './network/rate-limit.ts';
import { makeMetadataExchangeGate } from './network/metadata-exchange.ts';
import { makeRbacGate } from './network/rbac.ts';
import { makeScriptGate } from './network/script/script-gate.ts';
import { makeFilterStateGate } from './network/set-filter-state.ts';
import { makeSniClusterGate } from './network/sni-cluster.ts';
import { makeSniForwardProxyGate } from './network/sni-dynamic-forward-proxy.ts';

export const GATES = new KindTable<GateFilter, [NetworkFilterContext], NetworkGate>({
  network_local_ratelimit: makeRateLimitGate,
  network_rbac: makeRbacGate,
  network_ext_authz: makeExtAuthzGate,
  network_ratelimit: makeAskedRateLimitGate,
  sni_cluster: makeSniClusterGate,
  connection_limit: makeConnectionLimitGate,
  set_filter_state: makeFilterStateGate,
  sni_dynamic_forward_proxy: makeSniForwardProxyGate,
  network_geoip: makeGeoipGate,
  network_script: makeScriptGate,
  metadata_exchange: makeMetadataExchangeGate,
});
