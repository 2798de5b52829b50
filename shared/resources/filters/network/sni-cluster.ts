/** Settings of sni_cluster. */

/** The TCP proxy behind it goes to the cluster that the TLS client named. */
export interface SniCluster {
  readonly kind: 'sni_cluster';
}
