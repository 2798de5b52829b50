/**
 * Clusters on their way to workers before anybody uses them: packed in batches, once for all workers,
 * and unpacked where and when the first request comes. Ten thousand clusters of which a worker uses
 * twenty cost it twenty.
 */
import type * as Msgpackr from 'msgpackr';
// The package's main entry also loads a native addon and streams: 9 ms more in every process.
import * as codec from 'msgpackr/pack';
import type { ClusterHostsResource, ClusterResource, HostResource } from './cluster.ts';
import { type AlikeHosts, packAllHosts, unpackHosts } from './host-entries.ts';

const { Packr } = codec as unknown as typeof Msgpackr;

export interface ClusterWithHosts {
  readonly cluster: ClusterResource;
  readonly hosts: ClusterHostsResource;
}

interface PackedCluster {
  readonly cluster: ClusterResource;
  readonly hosts: Omit<ClusterHostsResource, 'hosts'> & {
    readonly hosts: readonly (HostResource | AlikeHosts)[];
  };
}

/** Records are written into each batch, so that it can be read alone. */
const packr = new Packr({ useRecords: true });

export function packClusters(clusters: readonly ClusterWithHosts[]): Uint8Array {
  return packr.pack(
    clusters.map(({ cluster, hosts }) => ({
      cluster,
      hosts: { ...hosts, hosts: packAllHosts(hosts.hosts) },
    })),
  );
}

export function unpackClusters(packed: Uint8Array): readonly ClusterWithHosts[] {
  const clusters = packr.unpack(packed) as readonly PackedCluster[];
  return clusters.map(({ cluster, hosts }) => ({
    cluster,
    hosts: { ...hosts, hosts: hosts.hosts.flatMap((entry) => unpackHosts(entry)) },
  }));
}

/** A worker does not leave the first request waiting for more hosts than that. */
export const IDLE_HOSTS_MAX = 500;

/**
 * Whether a worker does nothing for a cluster before its first request: no checks, no statistics
 * beside those that the supervisor defines, no tables, no certificates.
 */
export function mayIdle(cluster: ClusterResource): boolean {
  const { healthChecks, tls, lbPolicy, circuitBreakers, trackClusterStats: track } = cluster;
  if (healthChecks !== undefined || tls !== undefined) return false;
  if (track.timeoutBudgets || track.requestResponseSizes) return false;
  if (lbPolicy.kind === 'RING_HASH' || lbPolicy.kind === 'MAGLEV') return false;
  return Object.values(circuitBreakers).every(
    ({ trackRemaining, maxConnectionPools = 1, ...limits }) =>
      trackRemaining !== true && maxConnectionPools > 0 && hasRoom(limits),
  );
}

/** A breaker that is open from the start shows itself at once. */
function hasRoom(limits: {
  readonly maxConnections: number;
  readonly maxPendingRequests: number;
  readonly maxRequests: number;
  readonly maxRetries: number;
}): boolean {
  const { maxConnections, maxPendingRequests, maxRequests, maxRetries } = limits;
  return Math.min(maxConnections, maxPendingRequests, maxRequests, maxRetries) > 0;
}
