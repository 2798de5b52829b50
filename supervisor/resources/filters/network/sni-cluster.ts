/** Resolves sni_cluster, which has no settings. */
import { networkFilter } from '../network-filter-row.ts';

export const SNI_CLUSTER_FILTER = networkFilter(
  'envoy.filters.network.sni_cluster',
  'envoy.extensions.filters.network.sni_cluster.v3.SniCluster',
  false,
  () => ({ kind: 'sni_cluster' }),
);
