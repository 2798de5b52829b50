/** Settings of sni_cluster. */
import { declareKind } from '../declare-filter.ts';

/** The TCP proxy behind it goes to the cluster that the TLS client named. */
export interface SniCluster {
  readonly kind: 'sni_cluster';
}

export const SNI_CLUSTER_DECLARATION = declareKind<SniCluster>();
