/** One cluster as lines of `cluster::key::value` and `cluster::host::key::value`. */
import { printInternal } from '../../../shared/resources/cluster.ts';
import { sixDigits } from '../../six-digits.ts';
import type { ClusterStatus, HostStatus } from '../admin-context.ts';
import { hostStatEntries } from './host-stats.ts';

export function renderClusterText(cluster: ClusterStatus): string {
  const lines: string[] = [];
  const line = (key: string, value: string | number | boolean) =>
    lines.push(`${cluster.name}::${key}::${value}\n`);
  line('observability_name', cluster.observabilityName);
  if (cluster.outlier !== undefined) {
    line('outlier::success_rate_average', sixDigits(cluster.outlier.externalAverage));
    line('outlier::success_rate_ejection_threshold', sixDigits(cluster.outlier.externalThreshold));
    line('outlier::local_origin_success_rate_average', sixDigits(cluster.outlier.localAverage));
    line(
      'outlier::local_origin_success_rate_ejection_threshold',
      sixDigits(cluster.outlier.localThreshold),
    );
  }
  for (const [label, priority] of [
    ['default_priority', 'DEFAULT'],
    ['high_priority', 'HIGH'],
  ] as const) {
    const thresholds = cluster.circuitBreakers[priority];
    line(`${label}::max_connections`, thresholds.maxConnections);
    line(`${label}::max_pending_requests`, thresholds.maxPendingRequests);
    line(`${label}::max_requests`, thresholds.maxRequests);
    line(`${label}::max_retries`, thresholds.maxRetries);
  }
  line('added_via_api', cluster.addedViaApi);
  if (cluster.edsServiceName !== undefined) line('eds_service_name', cluster.edsServiceName);
  for (const host of cluster.hosts) lines.push(renderHost(cluster.name, host));
  return lines.join('');
}

function renderHost(cluster: string, host: HostStatus): string {
  const prefix = `${cluster}::${hostLabel(host)}::`;
  const values: (readonly [string, string | number | boolean])[] = [
    ...hostStatEntries(host.stats).sort(([left], [right]) => (left < right ? -1 : 1)),
    ['hostname', host.hostname],
    ['health_flags', describeHealth(host)],
    ['weight', host.weight],
    ['region', host.region],
    ['zone', host.zone],
    ['sub_zone', host.subZone],
    ['canary', host.canary],
    ['priority', host.priority],
    ['success_rate', host.successRate],
    ['local_origin_success_rate', host.localOriginSuccessRate],
  ];
  return values.map(([key, value]) => `${prefix}${key}::${value}\n`).join('');
}

export function hostLabel(host: HostStatus): string {
  if (host.address.kind === 'pipe') return host.address.path;
  if (host.address.kind === 'internal') {
    return printInternal(host.address.listener, host.address.endpointId);
  }
  const { address, port } = host.address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

export function describeHealth(host: HostStatus): string {
  return host.healthFlags.length === 0
    ? 'healthy'
    : host.healthFlags.map((flag) => `/${flag}`).join('');
}
