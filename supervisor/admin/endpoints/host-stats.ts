/**
 * What both forms of `/clusters` know of a host: its statistics, its label, what it shares with
 * others.
 */
import { printInternal } from '../../../shared/resources/clusters/cluster.ts';
import type { ClusterStatus, HostStats, HostStatus } from '../admin-context.ts';
import type { Likeness } from './printed-once.ts';

/** In the order of the JSON page: counters first, then gauges. */
export const HOST_COUNTERS = [
  'cx_connect_fail',
  'cx_total',
  'rq_error',
  'rq_success',
  'rq_timeout',
  'rq_total',
] as const satisfies readonly (keyof HostStats)[];
export const HOST_GAUGES = [
  'cx_active',
  'rq_active',
  'rq_pending_active',
] as const satisfies readonly (keyof HostStats)[];

/** In the order of the text page. */
export const HOST_STATS = [...HOST_COUNTERS, ...HOST_GAUGES].sort();

/** The statistics of a host that no request has used. */
export const NO_HOST_STATS: HostStats = {
  cx_active: 0,
  cx_connect_fail: 0,
  cx_total: 0,
  rq_active: 0,
  rq_pending_active: 0,
  rq_error: 0,
  rq_success: 0,
  rq_timeout: 0,
  rq_total: 0,
};

export function isUnused(stats: HostStats): boolean {
  return stats === NO_HOST_STATS || HOST_STATS.every((name) => stats[name] === 0);
}

/** Hosts that are alike differ in their address and their statistics only. */
export const HOST_LIKENESS: Likeness<HostStatus> = {
  isLike: (one, other) =>
    one.weight === other.weight &&
    one.priority === other.priority &&
    one.canary === other.canary &&
    one.edsHealth === other.edsHealth &&
    one.successRate === other.successRate &&
    one.localOriginSuccessRate === other.localOriginSuccessRate &&
    one.hostname === other.hostname &&
    one.region === other.region &&
    one.zone === other.zone &&
    one.subZone === other.subZone &&
    (one.healthFlags === other.healthFlags ||
      one.healthFlags.join('/') === other.healthFlags.join('/')),
  keyOf: (host) => {
    const { healthFlags, region, zone, subZone, successRate, localOriginSuccessRate } = host;
    return (
      `${healthFlags.join('/')}\n${host.edsHealth}\n${host.weight}\n` +
      `${host.priority}\n${host.canary}\n${successRate}\n${localOriginSuccessRate}\n` +
      `${host.hostname}\n${region}\n${zone}\n${subZone}`
    );
  },
};

type Breakers = ClusterStatus['circuitBreakers'];

/** Clusters that are alike have the same limits. */
export const BREAKERS_LIKENESS: Likeness<Breakers> = {
  isLike: (one, other) =>
    areSameLimits(one.DEFAULT, other.DEFAULT) && areSameLimits(one.HIGH, other.HIGH),
  keyOf: ({ DEFAULT, HIGH }) =>
    `${DEFAULT.maxConnections} ${DEFAULT.maxPendingRequests} ${DEFAULT.maxRequests} ` +
    `${DEFAULT.maxRetries} ${HIGH.maxConnections} ${HIGH.maxPendingRequests} ${HIGH.maxRequests} ` +
    `${HIGH.maxRetries}`,
};

function areSameLimits(one: Breakers['HIGH'], other: Breakers['HIGH']): boolean {
  return (
    one.maxConnections === other.maxConnections &&
    one.maxPendingRequests === other.maxPendingRequests &&
    one.maxRequests === other.maxRequests &&
    one.maxRetries === other.maxRetries
  );
}

export function hostLabel({ address }: HostStatus): string {
  switch (address.kind) {
    case 'pipe':
      return address.path;
    case 'internal':
      return printInternal(address.listener, address.endpointId);
    case 'ip':
      return address.address.includes(':')
        ? `[${address.address}]:${address.port}`
        : `${address.address}:${address.port}`;
  }
}

export function describeHealth({ healthFlags }: HostStatus): string {
  return healthFlags.length === 0 ? 'healthy' : healthFlags.map((flag) => `/${flag}`).join('');
}
