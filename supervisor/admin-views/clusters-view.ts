/** Clusters and their hosts as `/clusters` shows them. */
import type { HostResource } from '../../shared/resources/cluster.ts';
import { HOST } from '../../shared/stats/templates/cluster.ts';
import type { ClustersView, ClusterStatus, HostStats, HostStatus } from '../admin/admin-context.ts';
import type { ResolvedCluster } from '../resources/resolved-bootstrap.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { StatStore } from '../stats/stat-store.ts';

export interface ClustersViewOptions {
  readonly resources: ResourceStore;
  readonly stats: StatStore;
  refresh(): Promise<void>;
}

export function makeClustersView(options: ClustersViewOptions): ClustersView {
  const { resources, stats } = options;
  return {
    refresh: () => options.refresh(),
    names: () => [...resources.list('cluster')].map(({ name }) => name),
    status: (name) => {
      const entry = resources.get('cluster', name);
      return entry?.active === undefined
        ? undefined
        : clusterStatus(entry.active.resolved, entry.source === 'dynamic', stats);
    },
    certificates: () => [],
  };
}

function clusterStatus(
  { resource, hosts }: ResolvedCluster,
  addedViaApi: boolean,
  store: StatStore,
): ClusterStatus {
  return {
    name: resource.name,
    observabilityName: resource.statName,
    addedViaApi,
    circuitBreakers: resource.circuitBreakers,
    hosts: hosts.hosts.map((host) => hostStatus(resource.name, host, store)),
  };
}

function hostStatus(cluster: string, host: HostResource, store: StatStore): HostStatus {
  return {
    address: host.address,
    hostname: host.hostname,
    healthFlags: host.health === 'healthy' ? [] : healthFlags[host.health],
    edsHealth: edsHealth[host.health],
    weight: host.weight,
    region: host.region,
    zone: host.zone,
    subZone: host.subZone,
    canary: host.canary,
    priority: host.priority,
    successRate: -1,
    localOriginSuccessRate: -1,
    stats: hostStats(`host.${cluster}.${host.id}.`, store),
  };
}

const healthFlags = {
  degraded: ['degraded_eds_health'],
  unhealthy: ['failed_eds_health'],
} as const;
const edsHealth = { healthy: 'HEALTHY', degraded: 'DEGRADED', unhealthy: 'UNHEALTHY' } as const;

const hostStatNames = [
  'cx_active',
  'cx_connect_fail',
  'cx_total',
  'rq_active',
  'rq_pending_active',
  'rq_error',
  'rq_success',
  'rq_timeout',
  'rq_total',
] as const satisfies readonly (keyof HostStats)[];

/** Zeros until a worker has used the host. */
function hostStats(prefix: string, store: StatStore): HostStats {
  const base = store.find(HOST, prefix)?.base;
  const values = hostStatNames.map((name) => [
    name,
    base === undefined ? 0 : store.valueOf(base + HOST.index[name]),
  ]);
  return Object.fromEntries(values) as Record<(typeof hostStatNames)[number], number>;
}
