/**
 * Clusters on their way to workers before anybody uses them: packed in batches, once for all
 * workers, and unpacked where and when the first request comes. Ten thousand clusters of which a
 * worker uses twenty cost it twenty.
 */
import { Packr } from '../../channel/msgpack.ts';
import type { ClusterHostsResource, ClusterResource, HostResource } from './cluster.ts';
import {
  findPolicy,
  type HashingPolicy,
  innermostPolicy,
  MAGLEV_DEFAULTS,
  RING_DEFAULTS,
} from './lb-policy.ts';
import { type AlikeHosts, packAllHosts, unpackHosts } from './host-entries.ts';

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
/** Nor for more subsets, each selector making one of a host. */
const IDLE_SUBSETS_MAX = 2000;

/**
 * Whether a worker does nothing for a cluster before its first request: no checks, no certificates,
 * no statistics beside those that the supervisor defines and those of tables that are easily told.
 */
export function mayBeLazy({ cluster, hosts }: ClusterWithHosts): boolean {
  const { healthChecks, tls, circuitBreakers, trackClusterStats: track } = cluster;
  if (hosts.hosts.length > IDLE_HOSTS_MAX) return false;
  const selectors = findPolicy(cluster.lbPolicy, 'subset')?.options.selectors.length ?? 0;
  if (selectors * hosts.hosts.length > IDLE_SUBSETS_MAX) return false;
  if (healthChecks !== undefined || tls !== undefined) return false;
  if (cluster.upstreamHttp.filters !== undefined) return false;
  if (track.timeoutBudgets || track.requestResponseSizes) return false;
  if (hashingOf(cluster) !== undefined && idleTable({ cluster, hosts }) === undefined) return false;
  return Object.values(circuitBreakers).every(
    ({ trackRemaining, maxConnectionPools = 1, ...limits }) =>
      trackRemaining !== true && maxConnectionPools > 0 && hasRoom(limits),
  );
}

/** What statistics say of the table of a cluster that idles follows from this. */
export interface LazyTable {
  /** The cluster's name. */
  readonly name: string;
  readonly statName: string;
  /** The sizes of a ring, or of Maglev's table. */
  readonly sizes: { readonly minRingSize: number; readonly maxRingSize: number } | number;
  /** All of one weight. */
  readonly hosts: number;
}

/** Larger tables are made before somebody asks. */
const IDLE_RING_MAX = 2048;

/**
 * Undefined for a cluster without a table, or with one that the number of its hosts does not
 * describe.
 */
export function idleTable({ cluster, hosts: set }: ClusterWithHosts): LazyTable | undefined {
  const { name, statName, lbPolicy } = cluster;
  const { hosts } = set;
  const policy = hashingOf(cluster);
  if (policy === undefined || findPolicy(lbPolicy, 'subset') !== undefined) return undefined;
  if (!areEven(hosts, policy.localities !== undefined)) return undefined;
  const base = { name, statName, hosts: hosts.length };
  if (policy.kind === 'maglev') {
    const { tableSize } = policy.options ?? MAGLEV_DEFAULTS;
    return tableSize > MAGLEV_DEFAULTS.tableSize ? undefined : { ...base, sizes: tableSize };
  }
  const { minRingSize, maxRingSize } = policy.options ?? RING_DEFAULTS;
  return minRingSize > IDLE_RING_MAX ? undefined : { ...base, sizes: { minRingSize, maxRingSize } };
}

function hashingOf({ lbPolicy }: ClusterResource): HashingPolicy | undefined {
  const policy = innermostPolicy(lbPolicy);
  return policy.kind === 'ring_hash' || policy.kind === 'maglev' ? policy : undefined;
}

/** There are some, and each has the same share of one table. */
function areEven(hosts: readonly HostResource[], weighsLocalities: boolean): boolean {
  const [first] = hosts;
  return (
    first !== undefined &&
    hosts.every(
      ({ priority, health, weight, localityWeight }) =>
        priority === 0 &&
        health === 'healthy' &&
        weight === first.weight &&
        (localityWeight === undefined || !weighsLocalities),
    )
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
