/**
 * Resolves the network filters of a cluster, which the bytes of its connections pass. Envoy's own
 * release has none; Istio's has those that tell hosts of the client's workload.
 */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { Filter } from '../../../shared/api/generated/envoy/config/cluster/v3/filter.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import type { MetadataExchangeOptions } from '../../../shared/resources/filters/network/metadata-exchange.ts';
import { ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { UPSTREAM_METADATA_EXCHANGE } from '../filters/network/metadata-exchange.ts';
import type { Scope } from '../scope.ts';

export const UPSTREAM_NETWORK_FILTERS = new ExtensionRegistry<MetadataExchangeOptions>(
  'envoy.filters.upstream_network',
  'upstream network filter',
  [UPSTREAM_METADATA_EXCHANGE],
);

const FIELDS = knownFields<Filter>(['name', 'typed_config']);

export function resolveClusterNetworkFilters(
  { filters = [] }: Cluster,
  outer: Scope,
): Pick<ClusterResource, 'metadataExchange'> {
  const found = filters.map((filter, index) => {
    const scope = outer.at('filters', index);
    refuseOtherFields(filter, FIELDS, scope);
    if (UPSTREAM_NETWORK_FILTERS.leavesOut(filter, false, scope)) return undefined;
    return UPSTREAM_NETWORK_FILTERS.resolve(filter, scope);
  });
  const [metadataExchange, another] = found.filter((each) => each !== undefined);
  if (another !== undefined) {
    outer.at('filters').unsupported('more than one exchange of metadata on a connection is');
  }
  return metadataExchange === undefined ? {} : { metadataExchange };
}
