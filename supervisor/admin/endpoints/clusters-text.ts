/** `/clusters` as lines of `cluster::key::value` and `cluster::host::key::value`. */
import { escapeControls } from '../../../shared/logging/escape.ts';
import { sixDigits } from '../../../shared/text/six-digits.ts';
import type { CircuitBreakerThresholds } from '../../../shared/resources/clusters/cluster.ts';
import type { ClusterStatus, HostStatus } from '../admin-context.ts';
import {
  describeHealth,
  HOST_STATS,
  hostLabel,
  isUnused,
  keyOfBreakers,
  keyOfFacts,
  NO_HOST_STATS,
} from './host-stats.ts';
import { PrintedOnce } from './printed-once.ts';

/**
 * Lines without what stands before each, beginning with an empty one, so that joined by it they are
 * whole: that is several times faster than to write line by line.
 */
type Lines = readonly string[];

const UNUSED_LINES: Lines = ['', ...statLines(NO_HOST_STATS)];

/** Undefined stands for a cluster that is not shown: the page may pause there too. */
export function* clustersText(clusters: Iterable<ClusterStatus | undefined>): Generator<string> {
  const facts = new PrintedOnce<Lines>();
  const breakers = new PrintedOnce<Lines>();
  for (const cluster of clusters) {
    if (cluster === undefined) {
      yield '';
      continue;
    }
    yield clusterText(cluster, breakers);
    for (const host of cluster.hosts) yield hostText(cluster.name, host, facts);
  }
}

function clusterText(cluster: ClusterStatus, breakers: PrintedOnce<Lines>): string {
  const { name, outlier, circuitBreakers, edsServiceName } = cluster;
  const prefix = `${escapeControls(name)}::`;
  let text = `${prefix}observability_name::${escapeControls(cluster.observabilityName)}\n`;
  if (outlier !== undefined) text += outlierLines(outlier).join(prefix);
  text += breakers
    .get(keyOfBreakers(circuitBreakers), () => breakerLines(circuitBreakers))
    .join(prefix);
  text += `${prefix}added_via_api::${cluster.addedViaApi}\n`;
  return edsServiceName === undefined
    ? text
    : `${text}${prefix}eds_service_name::${escapeControls(edsServiceName)}\n`;
}

function outlierLines(outlier: NonNullable<ClusterStatus['outlier']>): Lines {
  return [
    '',
    `outlier::success_rate_average::${sixDigits(outlier.externalAverage)}\n`,
    `outlier::success_rate_ejection_threshold::${sixDigits(outlier.externalThreshold)}\n`,
    `outlier::local_origin_success_rate_average::${sixDigits(outlier.localAverage)}\n`,
    `outlier::local_origin_success_rate_ejection_threshold::${sixDigits(outlier.localThreshold)}\n`,
  ];
}

function breakerLines({ DEFAULT, HIGH }: ClusterStatus['circuitBreakers']): Lines {
  const linesOf = (label: string, thresholds: CircuitBreakerThresholds): Lines => [
    `${label}::max_connections::${thresholds.maxConnections}\n`,
    `${label}::max_pending_requests::${thresholds.maxPendingRequests}\n`,
    `${label}::max_requests::${thresholds.maxRequests}\n`,
    `${label}::max_retries::${thresholds.maxRetries}\n`,
  ];
  return ['', ...linesOf('default_priority', DEFAULT), ...linesOf('high_priority', HIGH)];
}

function hostText(cluster: string, host: HostStatus, facts: PrintedOnce<Lines>): string {
  const prefix = `${escapeControls(`${cluster}::${hostLabel(host)}`)}::`;
  if (isUnused(host.stats)) {
    const lines = facts.get(keyOfFacts(host), () => [...UNUSED_LINES, ...factLines(host)]);
    return lines.join(prefix);
  }
  return ['', ...statLines(host.stats), ...factLines(host)].join(prefix);
}

function statLines(stats: HostStatus['stats']): Lines {
  return HOST_STATS.map((name) => `${name}::${stats[name]}\n`);
}

function factLines(host: HostStatus): Lines {
  return [
    `hostname::${escapeControls(host.hostname)}\n`,
    `health_flags::${describeHealth(host)}\n`,
    `weight::${host.weight}\n`,
    `region::${escapeControls(host.region)}\n`,
    `zone::${escapeControls(host.zone)}\n`,
    `sub_zone::${escapeControls(host.subZone)}\n`,
    `canary::${host.canary}\n`,
    `priority::${host.priority}\n`,
    `success_rate::${host.successRate}\n`,
    `local_origin_success_rate::${host.localOriginSuccessRate}\n`,
  ];
}
