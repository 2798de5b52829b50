/**
 * Which balancer a cluster has, after what it is: one of other clusters, one whose hosts requests
 * name, or one that chooses among its own hosts; with what such a cluster needs beside it.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type {
  NestedPolicy,
  ProvidedPolicy,
  ScriptPolicy,
} from '../../shared/resources/clusters/lb-policy.ts';
import type {
  AggregatePolicy,
  ForwardProxyPolicy,
  OriginalDstPolicy,
} from '../../shared/resources/clusters/provided-policy.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import { AggregateBalancer } from './balancing/aggregate-balancer.ts';
import type { LoadBalancer } from './balancing/load-balancer.ts';
import type { LocalCluster } from './balancing/zone-picker.ts';
import type { UpstreamCluster } from './cluster.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { HashTableStats } from './hashing/hash-table-stats.ts';
import type { UpstreamHost } from './hosts/host.ts';
import { makeBalancer } from './balancing/lb-policies.ts';
import { ForwardProxyBalancer } from './named-hosts/forward-proxy-balancer.ts';
import { RequestedHostBalancer } from './named-hosts/requested-host-balancer.ts';
import { RequestedHosts } from './named-hosts/requested-hosts.ts';
import { WantedHosts } from './named-hosts/wanted-hosts.ts';

const RQ_ACTIVE = CLUSTER.index.upstream_rq_active;

/** What a cluster gives to its balancer. */
export interface BalancedCluster {
  readonly cluster: Pick<UpstreamCluster, 'name' | 'resource' | 'stats'>;
  readonly context: ClusterContext;
  readonly tableStats: HashTableStats;
  readonly makeHost: (host: HostResource) => UpstreamHost;
}

export interface ClusterBalancer {
  readonly balancer: LoadBalancer;
  /** Hosts that requests name by their address, where these are the cluster's. */
  readonly requested?: RequestedHosts;
  /** Where requests wait for their hosts, when hosts are the names that requests carry. */
  readonly wantedHosts?: WantedHosts;
}

const PROVIDED = new KindTable<ProvidedPolicy, [BalancedCluster], ClusterBalancer>({
  aggregate: amongClusters,
  original_dst: amongAddresses,
  dynamic_forward_proxy: amongNames,
});

export function makeClusterBalancer(balanced: BalancedCluster): ClusterBalancer {
  const { lbPolicy } = balanced.cluster.resource;
  if (PROVIDED.has(lbPolicy)) return PROVIDED.make(lbPolicy, balanced);
  return { balancer: amongOwnHosts(lbPolicy, balanced) };
}

function amongClusters(
  { clusters }: AggregatePolicy,
  { cluster: { resource }, context }: BalancedCluster,
): ClusterBalancer {
  const balancer = new AggregateBalancer({
    clusters,
    find: (name) => context.find(name),
    panicThreshold: resource.healthyPanicThreshold,
    random: Math.random,
  });
  return { balancer };
}

function amongNames(
  { options }: ForwardProxyPolicy,
  { cluster: { name }, context }: BalancedCluster,
): ClusterBalancer {
  const wantedHosts = new WantedHosts({
    options,
    nowMs: () => context.loop.clock.ms,
    workerIndex: context.duty.workerIndex,
    want: (host, ticket) => context.hostWanted(name, host, ticket),
    used: (host) => context.hostUsed(name, host),
    findCluster: (other) => context.find(other),
  });
  return { balancer: new ForwardProxyBalancer(wantedHosts), wantedHosts };
}

function amongAddresses(
  { options }: OriginalDstPolicy,
  balanced: BalancedCluster,
): ClusterBalancer {
  const requested = followRequests(balanced, options.cleanupIntervalMs);
  const hostAt = (ip: string, port: number): UpstreamHost => requested.at(ip, port);
  const count = counterOf(balanced);
  return { balancer: new RequestedHostBalancer({ options, hostAt, count }), requested };
}

function counterOf({ cluster: { stats } }: BalancedCluster): (offset: number) => void {
  return (offset) => stats.writer.increment(stats.base + offset);
}

function followRequests(
  { cluster: { name }, context, makeHost }: BalancedCluster,
  cleanupIntervalMs: number,
): RequestedHosts {
  return new RequestedHosts({
    cluster: name,
    cleanupIntervalMs,
    nowMs: () => context.loop.clock.ms,
    make: makeHost,
    used: (host) => context.hostRequested(name, host),
  });
}

function amongOwnHosts(
  policy: NestedPolicy | ScriptPolicy,
  balanced: BalancedCluster,
): LoadBalancer {
  const { cluster, context, tableStats } = balanced;
  const { resource, stats } = cluster;
  const isFirstWorker = context.duty.workerIndex === 0;
  return makeBalancer(policy, {
    healthyPanicThreshold: resource.healthyPanicThreshold,
    cluster: { name: cluster.name, statPrefix: stats.prefix },
    stats: context.stats,
    scripts: context.scripts,
    runtime: context.runtime,
    ownLocality: context.ownLocality,
    localCluster: localClusterOf(cluster.name, context),
    nowMs: () => context.loop.clock.ms,
    count: counterOf(balanced),
    countLoadAware: (name, change) => {
      if (isFirstWorker) stats.countLoadAware(name, change);
    },
    // Envoy's main thread has every balancer too: one worker counts for it.
    countStructure: (offset, change) =>
      stats.writer.add(stats.base + offset, (isFirstWorker ? 2 : 1) * change),
    onDuplicates: (hosts) => {
      if (isFirstWorker) stats.setDuplicateSubsetHosts(hosts);
    },
    allActiveRequests: () => stats.writer.valueOf(stats.base + RQ_ACTIVE),
    hashPolicies: resource.upstreamHttp.hashPolicies,
    onTable: (table) => tableStats.show(table),
  });
}

/** That cluster itself has none. */
function localClusterOf(
  name: string,
  context: ClusterContext,
): (() => LocalCluster | undefined) | undefined {
  const local = context.localClusterName;
  return local === undefined || local === name ? undefined : () => context.find(local);
}
