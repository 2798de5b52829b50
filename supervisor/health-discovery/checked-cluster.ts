/** One cluster that a control plane wants to have checked, and the report on its hosts. */
import type { HealthCheck } from '../../shared/api/generated/envoy/config/core/v3/health_check.ts';
import type { ClusterHealthCheck } from '../../shared/api/generated/envoy/service/health/v3/hds.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';

/** No name of a configured cluster holds this byte. */
const NAME_PREFIX = '\0hds/';
const CONNECT_TIMEOUT = '1s';

export function checkedName(cluster: string): string {
  return NAME_PREFIX + cluster;
}

/** The same cluster as a bootstrap would say it. */
export function clusterMessage(check: ClusterHealthCheck): JsonObject {
  const { cluster_name: name = '', locality_endpoints: localities = [] } = check;
  return {
    name: checkedName(name),
    alt_stat_name: name,
    type: 'STATIC',
    connect_timeout: CONNECT_TIMEOUT,
    health_checks: (check.health_checks ?? []).map((message) => withHost(message, name)),
    load_assignment: {
      cluster_name: checkedName(name),
      endpoints: localities.map(({ locality, endpoints = [] }) => ({
        ...(locality === undefined ? {} : { locality }),
        lb_endpoints: endpoints.map((endpoint) => ({ endpoint })),
      })),
    },
    ...(check.transport_socket_matches === undefined
      ? {}
      : { transport_socket_matches: check.transport_socket_matches }),
    ...(check.upstream_bind_config === undefined
      ? {}
      : { upstream_bind_config: check.upstream_bind_config }),
  } as unknown as JsonObject;
}

/** Checks without a host of their own name the cluster, as the control plane calls it. */
function withHost(message: HealthCheck, cluster: string): HealthCheck {
  const { http_health_check: http, grpc_health_check: grpc } = message;
  if (http !== undefined && !http.host) {
    return { ...message, http_health_check: { ...http, host: cluster } };
  }
  if (grpc !== undefined && !grpc.authority) {
    return { ...message, grpc_health_check: { ...grpc, authority: cluster } };
  }
  return message;
}

export interface HealthReport {
  /** envoy.service.health.v3.EndpointHealth of every host. */
  readonly endpoints: readonly JsonObject[];
  /** envoy.service.health.v3.ClusterEndpointsHealth. */
  readonly cluster: JsonObject;
}

export function reportOn(cluster: string, live: LiveCluster): HealthReport {
  const endpoints: JsonObject[] = [];
  const localities = new Map<string, { locality: JsonObject; endpoints_health: JsonObject[] }>();
  for (const host of live.hostList) {
    const health = endpointHealth(host);
    endpoints.push(health);
    const { region, zone, subZone } = host;
    const key = JSON.stringify([region, zone, subZone]);
    const locality = localities.get(key) ?? {
      locality: { region, zone, sub_zone: subZone },
      endpoints_health: [],
    };
    localities.set(key, locality);
    locality.endpoints_health.push(health);
  }
  return {
    endpoints,
    cluster: { cluster_name: cluster, locality_endpoints_health: [...localities.values()] },
  };
}

function endpointHealth(host: HostResource): JsonObject {
  return { endpoint: { address: addressMessage(host) }, health_status: statusOf(host) };
}

function statusOf({ healthBits = 0 }: HostResource): string {
  const has = (bit: number): boolean => (healthBits & bit) !== 0;
  if (has(HEALTH_BITS.failed_active_hc)) {
    return has(HEALTH_BITS.active_hc_timeout) ? 'TIMEOUT' : 'UNHEALTHY';
  }
  return has(HEALTH_BITS.degraded_active_hc) ? 'DEGRADED' : 'HEALTHY';
}

function addressMessage({ address }: HostResource): JsonObject {
  switch (address.kind) {
    case 'ip':
      return { socket_address: { address: address.address, port_value: address.port } };
    case 'pipe':
      return { pipe: { path: address.path } };
    case 'internal':
      return {};
  }
}
