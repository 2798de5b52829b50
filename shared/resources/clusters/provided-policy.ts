/** How hosts are chosen by clusters that bring their own balancer, as workers receive it. */
import type { MetadataKey } from '../routes/route.ts';

/** The hosts are those of these clusters, each in turn. */
export interface AggregatePolicy {
  readonly kind: 'aggregate';
  readonly clusters: readonly string[];
}

/** The hosts are those that requests name by their address. */
export interface OriginalDstPolicy {
  readonly kind: 'original_dst';
  readonly options: OriginalDstOptions;
}

/** The hosts are the names that requests ask for, looked up when one first does. */
export interface ForwardProxyPolicy {
  readonly kind: 'dynamic_forward_proxy';
  readonly options: ForwardProxyOptions;
}

export interface OriginalDstOptions {
  /** The request header that may have the address; lower case. */
  readonly header?: string;
  readonly portOverride?: number;
  /** Where dynamic metadata may have the address; looked at before the header. */
  readonly metadataKey?: MetadataKey;
  /** A host that was not used for so long goes. */
  readonly cleanupIntervalMs: number;
}

export interface ForwardProxyOptions {
  /** Names without a port have this one. */
  readonly defaultPort: number;
  /** The supervisor is told of a host in use at most this often. */
  readonly touchIntervalMs: number;
  /** Each name is a cluster of its own; absent: it is a host of this one. */
  readonly hasSubClusters?: true;
}
