/** Settings of Istio's filter that tells peers of each other's workloads. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** How a peer's workload is learnt. What a workload discovery service would say is not asked for. */
export type PeerDiscovery = 'istio_headers' | 'baggage';

export type PeerPropagation =
  | { readonly kind: 'baggage' }
  | {
      readonly kind: 'istio_headers';
      /** Clusters outside of the mesh are told nothing. */
      readonly skipsExternal: boolean;
    };

interface PeerMetadataOptions {
  readonly downstreamDiscovery: readonly PeerDiscovery[];
  readonly upstreamDiscovery: readonly PeerDiscovery[];
  readonly downstreamPropagation: readonly PeerPropagation[];
  readonly upstreamPropagation: readonly PeerPropagation[];
  /** Labels that are told beside those of the service. */
  readonly additionalLabels: readonly string[];
}

export type PeerMetadataFilterSettings = FilterResource<'peer_metadata', PeerMetadataOptions>;

export const PEER_METADATA_DECLARATION = declareKind<PeerMetadataFilterSettings>();
