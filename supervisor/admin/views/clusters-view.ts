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
  OutlierStatus,
} from '../admin-context.ts';
import { NO_HOST_STATS } from '../endpoints/host-stats.ts';
import { certificateStatuses } from '../../tls/loaded-certificates.ts';
import type { ResourceEntry, ResourceStore } from '../../store/resource-store.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { OutlierDetector } from '../../health/outlier-detector.ts';
import type { LiveCluster } from '../../upstreams/live-cluster.ts';
import type { UpstreamClusters } from '../../upstreams/upstream-clusters.ts';

export interface ClustersViewOptions {
  readonly resources: ResourceStore;
  readonly upstreams: UpstreamClusters;
  readonly stats: StatStore;
  refresh(): Promise<void>;
}

export function makeClustersView(options: ClustersViewOptions): ClustersView {
  const { resources, upstreams, stats } = options;
  return {
    refresh: () => options.refresh(),
    // One that only drains is gone for whoever looks.
    names: () =>
      [...resources.list('cluster')]
        .filter(({ active }) => active !== undefined)
        .map(({ name }) => name),
    status: (name) => {
      const cluster = upstreams.get(name);
      const entry = resources.get('cluster', name);
      return cluster === undefined ? undefined : clusterStatus(cluster, entry, stats);
    },
    certificates: () => certificateStatuses(resources),
  };
}

function clusterStatus(
  cluster: LiveCluster,
  entry: ResourceEntry<'cluster'> | undefined,
  store: StatStore,
): ClusterStatus {
  const { resolved, hostList, outlier, breakers } = cluster;
  const { resource, observabilityName } = resolved;
  const weights = cluster.weights();
  const statPrefix = `host.${resource.name}.`;
  return {
    name: resource.name,
    observabilityName,
    edsServiceName: serviceNameIn(entry?.active?.message),
    addedViaApi: entry?.source === 'dynamic',
    circuitBreakers: breakers.thresholds(),
    outlier: outlier && outlierStatus(outlier),
    hosts: {
      length: hostList.length,
      *[Symbol.iterator]() {
        for (const [at, host] of hostList.entries()) {
          const weight = weights?.[at] ?? host.weight;
          yield hostStatus({ host, weight, outlier }, hostStats(statPrefix + host.id, store));
        }
      },
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
}

function hostStatus({ host, weight, outlier }: ShownHost, stats: HostStats): HostStatus {
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
    stats,
  };
}

const NO_FLAGS: HostStatus['healthFlags'] = [];
const NO_RATES = { successRate: -1, localOriginSuccessRate: -1 };

/** Zeros until a worker has used the host. */
function hostStats(name: string, store: StatStore): HostStats {
  const base = store.find(HOST, `${name}.`)?.base;
  if (base === undefined) return NO_HOST_STATS;
  const value = (name: keyof HostStats): number => store.valueOf(base + HOST.index[name]);
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
