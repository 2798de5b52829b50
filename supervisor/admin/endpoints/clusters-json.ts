/** envoy.admin.v3.ClusterStatus in JSON form; fields at their default are left out. */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { CircuitBreakerThresholds } from '../../../shared/resources/cluster.ts';
import { hostAddressMessage } from '../address-message.ts';
import type { HealthFlag } from '../../../shared/resources/host-health.ts';
import type { ClusterStatus, HostStatus, OutlierStatus } from '../admin-context.ts';
import { HOST_COUNTERS, HOST_GAUGES } from './host-stats.ts';

export function clusterMessage(cluster: ClusterStatus): JsonObject {
  const { outlier } = cluster;
  return present({
    name: cluster.name,
    added_via_api: cluster.addedViaApi,
    success_rate_ejection_threshold: percent(outlier?.externalThreshold),
    host_statuses: cluster.hosts.map((host) => hostMessage(host, outlier)),
    local_origin_success_rate_ejection_threshold: percent(outlier?.localThreshold),
    circuit_breakers: {
      thresholds: [
        thresholdsMessage(undefined, cluster.circuitBreakers.DEFAULT),
        thresholdsMessage('HIGH', cluster.circuitBreakers.HIGH),
      ],
    },
    observability_name: cluster.observabilityName,
    eds_service_name: cluster.edsServiceName,
  });
}

function hostMessage(host: HostStatus, outlier: OutlierStatus | undefined): JsonObject {
  return present({
    address: hostAddressMessage(host.address),
    stats: [
      ...HOST_COUNTERS.map((name) => statMessage(undefined, name, host.stats[name])),
      ...HOST_GAUGES.map((name) => statMessage('GAUGE', name, host.stats[name])),
    ],
    health_status: healthMessage(host),
    success_rate: outlier === undefined ? undefined : percent(host.successRate),
    weight: host.weight,
    hostname: host.hostname,
    priority: host.priority,
    local_origin_success_rate:
      outlier === undefined ? undefined : percent(host.localOriginSuccessRate),
    locality: present({ region: host.region, zone: host.zone, sub_zone: host.subZone }),
  });
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
      // Whoever told of a timeout is shown as telling of a failure.
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
