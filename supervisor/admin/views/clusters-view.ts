/** Clusters and their hosts as `/clusters` shows them. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { flagsOf } from '../../../shared/resources/clusters/host-health.ts';
import { HOST } from '../../../shared/stats/templates/cluster.ts';
import type {
  ClustersView,
  ClusterStatus,
  HostStats,
  HostStatus,
  HostStatuses,
  OutlierStatus,
} from '../admin-context.ts';
import { NO_HOST_STATS } from '../endpoints/host-stats.ts';
import { certificateStatuses } from '../../tls/loaded-certificates.ts';
import type { ResourceEntry, ResourceStore } from '../../store/resource-store.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { OutlierDetector } from '../../health/outlier-detector.ts';
import type { LiveCluster } from '../../upstreams/live-cluster.ts';
import type { HostOrder, HostOrders } from '../../upstreams/hosts/host-orders.ts';
import type { UpstreamClusters } from '../../upstreams/upstream-clusters.ts';

export interface ClustersViewOptions {
  readonly resources: ResourceStore;
  readonly upstreams: UpstreamClusters;
  readonly orders: Pick<HostOrders, 'of'>;
  readonly stats: StatStore;
  refresh(): Promise<void>;
}

export function makeClustersView(options: ClustersViewOptions): ClustersView {
  const { resources, upstreams, orders } = options;
  const stats = new HostStatsReader(options.stats);
  return {
    refresh: () => options.refresh(),
    // One that only drains is not shown any more.
    names: () =>
      [...resources.list('cluster')]
        .filter(({ active }) => active !== undefined)
        .map(({ name }) => name),
    status: (name) => {
      const cluster = upstreams.get(name);
      const entry = resources.get('cluster', name);
      return cluster === undefined ? undefined : clusterStatus(cluster, entry, stats, orders);
    },
    certificates: () => certificateStatuses(resources),
  };
}

function clusterStatus(
  cluster: LiveCluster,
  entry: ResourceEntry<'cluster'> | undefined,
  stats: HostStatsReader,
  orders: Pick<HostOrders, 'of'>,
): ClusterStatus {
  const { resolved, outlier, breakers } = cluster;
  const { resource, observabilityName } = resolved;
  return {
    name: resource.name,
    observabilityName,
    edsServiceName: serviceNameIn(entry?.active?.message),
    addedViaApi: entry?.source === 'dynamic',
    circuitBreakers: breakers.thresholds(),
    outlier: outlier && outlierStatus(outlier),
    hosts: hostsOf(cluster, stats, orders),
  };
}

function hostsOf(
  cluster: LiveCluster,
  stats: HostStatsReader,
  orders: Pick<HostOrders, 'of'>,
): HostStatuses {
  const { hostList, outlier, name } = cluster;
  const weights = cluster.weights();
  const ofHost = stats.begin(cluster);
  return {
    length: hostList.length,
    at: (index) => {
      const host = hostList[index];
      if (host === undefined) return undefined;
      const weight = weights?.[index] ?? host.weight;
      return hostStatus({ host, weight, outlier, order: orders.of(name, host.id) }, ofHost(host));
    },
  };
}

/** Under which its hosts are asked for, where the configuration says it. */
function serviceNameIn(message: Pick<Cluster, 'eds_cluster_config'> = {}): string | undefined {
  return message.eds_cluster_config?.service_name || undefined;
}

function outlierStatus({ external, local }: OutlierDetector): OutlierStatus {
  return {
    externalAverage: external.average,
    externalThreshold: external.threshold,
    localAverage: local.average,
    localThreshold: local.threshold,
  };
}

interface ShownHost {
  readonly host: HostResource;
  /** What it is taken by at present. */
  readonly weight: number;
  readonly outlier: OutlierDetector | undefined;
  readonly order: HostOrder | undefined;
}

function hostStatus({ host, weight, outlier, order }: ShownHost, stats: HostStats): HostStatus {
  const rates = outlier?.ratesOf(host.id) ?? NO_RATES;
  return {
    address: host.address,
    hostname: host.hostname,
    healthFlags: host.healthBits ? flagsOf(host.healthBits) : NO_FLAGS,
    edsHealth: host.configuredHealth ?? 'HEALTHY',
    weight,
    region: host.region,
    zone: host.zone,
    subZone: host.subZone,
    canary: host.canary,
    priority: host.priority,
    successRate: rates.successRate,
    localOriginSuccessRate: rates.localOriginSuccessRate,
    order,
    stats,
  };
}

const NO_FLAGS: HostStatus['healthFlags'] = [];
const NO_RATES = { successRate: -1, localOriginSuccessRate: -1 };

/** What was found when none of a cluster's hosts had statistics. */
interface Unused {
  readonly generation: number;
  readonly hosts: readonly HostResource[];
}

/**
 * Reads the statistics of hosts: zeros until a worker has used one. To look for what is not there
 * takes a name and a search for each host, so that it remembers which clusters have none: that
 * holds until another statistic is defined or the hosts are others.
 */
class HostStatsReader {
  readonly #store: StatStore;
  readonly #unused = new WeakMap<LiveCluster, Unused>();

  constructor(store: StatStore) {
    this.#store = store;
  }

  /** For all hosts of a cluster, in their order. */
  begin(cluster: LiveCluster): (host: HostResource) => HostStats {
    const { generation } = this.#store;
    const hosts = cluster.hostList;
    const known = this.#unused.get(cluster);
    if (known?.generation === generation && known.hosts === hosts) return () => NO_HOST_STATS;
    const prefix = `host.${cluster.name}.`;
    let isUnused = true;
    return (host) => {
      const base = this.#store.find(HOST, `${prefix}${host.id}.`)?.base;
      isUnused &&= base === undefined;
      if (isUnused && host === hosts.at(-1)) this.#unused.set(cluster, { generation, hosts });
      return base === undefined ? NO_HOST_STATS : this.#read(base);
    };
  }

  #read(base: number): HostStats {
    const value = (name: keyof HostStats): number => this.#store.valueOf(base + HOST.index[name]);
    return {
      cx_active: value('cx_active'),
      cx_connect_fail: value('cx_connect_fail'),
      cx_total: value('cx_total'),
      rq_active: value('rq_active'),
      rq_pending_active: value('rq_pending_active'),
      rq_error: value('rq_error'),
      rq_success: value('rq_success'),
      rq_timeout: value('rq_timeout'),
      rq_total: value('rq_total'),
    };
  }
}
