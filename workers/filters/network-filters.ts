/** Every network filter that may stand in front of a chain's last one: one row each. */
import type {
  GateFilter,
  GateFilterKind,
  GateFilterOf,
} from '../../shared/resources/filters/network-filters.ts';
import type { NetworkFilterContext } from './network-filter-context.ts';
import type { NetworkGate } from './network-gate.ts';
import { makeConnectionLimitGate } from './network/connection-limit.ts';
import { makeExtAuthzGate } from './network/ext-authz.ts';
import { makeRateLimitGate } from './network/local-rate-limit.ts';
import { makeAskedRateLimitGate } from './network/rate-limit.ts';
import { makeRbacGate } from './network/rbac.ts';
import { makeFilterStateGate } from './network/set-filter-state.ts';
import { makeSniClusterGate } from './network/sni-cluster.ts';
import { makeSniForwardProxyGate } from './network/sni-dynamic-forward-proxy.ts';

type MakeGate<Filter> = (filter: Filter, context: NetworkFilterContext) => NetworkGate;

type Rows = { readonly [Kind in GateFilterKind]: MakeGate<GateFilterOf<Kind>> };

const ROWS = {
  network_local_ratelimit: makeRateLimitGate,
  network_rbac: makeRbacGate,
  network_ext_authz: makeExtAuthzGate,
  network_ratelimit: makeAskedRateLimitGate,
  sni_cluster: makeSniClusterGate,
  connection_limit: makeConnectionLimitGate,
  set_filter_state: makeFilterStateGate,
  sni_dynamic_forward_proxy: makeSniForwardProxyGate,
} satisfies Rows;

const GATES = new Map<string, MakeGate<never>>(Object.entries(ROWS));

/**
 * Undefined for a filter that ends chains. The type of the rows has checked that a kind's row takes
 * that kind's settings.
 */
export function makeGate(
  filter: { readonly kind: string },
  context: NetworkFilterContext,
): NetworkGate | undefined {
  const make = GATES.get(filter.kind) as MakeGate<GateFilter> | undefined;
  return make?.(filter as GateFilter, context);
}
