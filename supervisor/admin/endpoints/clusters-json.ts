/** `/clusters?format=json`: envoy.admin.v3.Clusters; fields at their default are left out. */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import type { CircuitBreakerThresholds } from '../../../shared/resources/clusters/cluster.ts';
import type { HealthFlag } from '../../../shared/resources/clusters/host-health.ts';
import { hostAddressMessage } from '../address-message.ts';
import type { ClusterStatus, HostStatus } from '../admin-context.ts';
import { printJsonAt } from '../json-printer.ts';
import {
  BREAKERS_LIKENESS,
  HOST_COUNTERS,
  HOST_GAUGES,
  HOST_LIKENESS,
  isUnused,
  NO_HOST_STATS,
} from './host-stats.ts';
import { PrintedOnce } from './printed-once.ts';

/** Hosts printed in one step. */
const HOSTS_PER_STEP = 16;
/** Levels at which the fields of a cluster and of a host stand. */
const CLUSTER_DEPTH = 3;
const HOST_DEPTH = 5;

/** What many clusters or hosts of a page have in common. */
class Printed {
  readonly breakers = new PrintedOnce(BREAKERS_LIKENESS, breakersText);
  /** Behind a host's statistics. */
  readonly facts = new PrintedOnce(HOST_LIKENESS, (host) => factsText(host, false));
  /** The same in a cluster with an outlier detector. */
  readonly watchedFacts = new PrintedOnce(HOST_LIKENESS, (host) => factsText(host, true));
}

/** Undefined stands for a cluster that is not shown: the page may pause there too. */
export function* clustersJson(clusters: Iterable<ClusterStatus | undefined>): Generator<string> {
  const printed = new Printed();
  let opening = '{\n "cluster_statuses": [\n  ';
  for (const cluster of clusters) {
    if (cluster === undefined) {
      yield '';
      continue;
    }
    yield* clusterText(opening, cluster, printed);
    opening = ',\n  ';
  }
  yield opening.startsWith(',') ? '\n ]\n}\n' : '{}\n';
}

function* clusterText(
  opening: string,
  cluster: ClusterStatus,
  printed: Printed,
): Generator<string> {
  const { name, outlier, addedViaApi, observabilityName, edsServiceName } = cluster;
  const { externalThreshold, localThreshold } = outlier ?? {};
  let text = `${opening}{`;
  if (name !== '') text += `\n   "name": ${quoteJson(name)},`;
  if (addedViaApi) text += '\n   "added_via_api": true,';
  text += percentField('success_rate_ejection_threshold', externalThreshold, CLUSTER_DEPTH);
  let count = 0;
  for (let host = cluster.hosts.at(0); host !== undefined; host = cluster.hosts.at(count)) {
    text += count === 0 ? '\n   "host_statuses": [\n    ' : ',\n    ';
    text += hostText(host, outlier !== undefined, printed);
    if (++count % HOSTS_PER_STEP !== 0) continue;
    yield text;
    text = '';
  }
  if (count > 0) text += '\n   ],';
  text += percentField(
    'local_origin_success_rate_ejection_threshold',
    localThreshold,
    CLUSTER_DEPTH,
  );
  text += `\n   "circuit_breakers": ${printed.breakers.get(cluster.circuitBreakers)}`;
  if (observabilityName !== '') {
    text += `,\n   "observability_name": ${quoteJson(observabilityName)}`;
  }
  if (edsServiceName !== undefined && edsServiceName !== '') {
    text += `,\n   "eds_service_name": ${quoteJson(edsServiceName)}`;
  }
  yield `${text}\n  }`;
}

function breakersText({ DEFAULT, HIGH }: ClusterStatus['circuitBreakers']): string {
  return printJsonAt(
    { thresholds: [thresholdsMessage(undefined, DEFAULT), thresholdsMessage('HIGH', HIGH)] },
    CLUSTER_DEPTH,
  );
}

function hostText(host: HostStatus, hasOutlier: boolean, printed: Printed): string {
  const { address, stats } = host;
  const printedAddress =
    address.kind === 'ip'
      ? `{\n      "socket_address": {\n       "address": ${quoteJson(address.address)},\n` +
        `       "port_value": ${address.port}\n      }\n     }`
      : printJsonAt(hostAddressMessage(address), HOST_DEPTH);
  const printedStats = isUnused(stats) ? UNUSED : statsText(stats);
  const rest = (hasOutlier ? printed.watchedFacts : printed.facts).get(host);
  return `{\n     "address": ${printedAddress},\n     "stats": ${printedStats}${rest}\n    }`;
}

/** The fields behind the statistics; those that are there always begin with a comma. */
function factsText(host: HostStatus, hasOutlier: boolean): string {
  const fields = present({
    health_status: healthMessage(host),
    success_rate: hasOutlier ? percent(host.successRate) : undefined,
    weight: host.weight,
    hostname: host.hostname,
    priority: host.priority,
    local_origin_success_rate: hasOutlier ? percent(host.localOriginSuccessRate) : undefined,
    locality: present({ region: host.region, zone: host.zone, sub_zone: host.subZone }),
  });
  return Object.entries(fields)
    .map(([name, value]) => `,\n     "${name}": ${printJsonAt(value, HOST_DEPTH)}`)
    .join('');
}

function statsText(stats: HostStatus['stats']): string {
  const messages = [
    ...HOST_COUNTERS.map((name) => statMessage(undefined, name, stats[name])),
    ...HOST_GAUGES.map((name) => statMessage('GAUGE', name, stats[name])),
  ];
  return printJsonAt(messages, HOST_DEPTH);
}

const UNUSED = statsText(NO_HOST_STATS);

function percentField(name: string, value: number | undefined, depth: number): string {
  const message = percent(value);
  if (message === undefined) return '';
  return `\n${' '.repeat(depth)}"${name}": ${printJsonAt(message, depth)},`;
}

function statMessage(type: string | undefined, name: string, value: number): JsonObject {
  return present({ type, name, value: value === 0 ? undefined : String(value) });
}

function thresholdsMessage(
  priority: string | undefined,
  thresholds: CircuitBreakerThresholds,
): JsonObject {
  return {
    ...(priority === undefined ? {} : { priority }),
    max_connections: thresholds.maxConnections,
    max_pending_requests: thresholds.maxPendingRequests,
    max_requests: thresholds.maxRequests,
    max_retries: thresholds.maxRetries,
  };
}

/** Fields of envoy.admin.v3.HostHealthStatus, in the order of their numbers. */
const HEALTH_FIELDS: readonly (readonly [string, HealthFlag])[] = [
  ['failed_active_health_check', 'failed_active_hc'],
  ['failed_outlier_check', 'failed_outlier_check'],
  ['failed_active_degraded_check', 'degraded_active_hc'],
  ['pending_dynamic_removal', 'pending_dynamic_removal'],
  ['pending_active_hc', 'pending_active_hc'],
  ['excluded_via_immediate_hc_fail', 'excluded_via_immediate_hc_fail'],
  ['active_hc_timeout', 'active_hc_timeout'],
  ['failed_degraded_outlier_detection', 'degraded_outlier_detection'],
];

function healthMessage(host: HostStatus): JsonObject {
  const message: Record<string, JsonValue> = {};
  for (const [field, flag] of HEALTH_FIELDS) {
    if (host.healthFlags.includes(flag)) message[field] = true;
    // eds_health_status has number 3, between failed_outlier_check and the next one.
    if (field === 'failed_outlier_check' && host.edsHealth !== 'UNKNOWN') {
      // A host with the timeout flag is shown with the flag of a failure.
      message['eds_health_status'] = host.edsHealth === 'TIMEOUT' ? 'UNHEALTHY' : host.edsHealth;
    }
  }
  return message;
}

/** Absent while there is not enough data. */
function percent(value: number | undefined): JsonObject | undefined {
  if (value === undefined || value < 0) return undefined;
  return value === 0 ? {} : { value };
}

/** Leaves out what is undefined or a default; messages stay, even empty. */
function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === '' || value === 0 || value === false) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    result[name] = value;
  }
  return result;
}
