/**
 * The hosts of a cluster as envoy.config.endpoint.v3.ClusterLoadAssignment, for
 * `/config_dump?include_eds`: what the cluster has now, not what was written.
 */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import { hostAddressMessage } from '../admin/address-message.ts';

const HEALTH_STATUS = { healthy: 'HEALTHY', degraded: 'DEGRADED', unhealthy: 'UNHEALTHY' } as const;

/** Fields in the order of their numbers, as the reference prints this message. */
export function endpointMessage(hosts: ClusterHostsResource): JsonObject {
  const groups = groupByLocality(hosts.hosts);
  return {
    cluster_name: hosts.cluster,
    ...(groups.length === 0 ? {} : { endpoints: groups.map(localityMessage) }),
    policy: { overprovisioning_factor: hosts.overprovisioningFactor },
  };
}

/** Groups in the order of their first host. */
function groupByLocality(hosts: readonly HostResource[]): readonly (readonly HostResource[])[] {
  const groups = new Map<string, HostResource[]>();
  for (const host of hosts) {
    const key = JSON.stringify([host.priority, host.region, host.zone, host.subZone]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [host]);
    else group.push(host);
  }
  return [...groups.values()];
}

function localityMessage(hosts: readonly HostResource[]): JsonObject {
  const [first] = hosts;
  const { region = '', zone = '', subZone = '', priority = 0, localityWeight = 0 } = first ?? {};
  return {
    locality: present({ region, zone, sub_zone: subZone }),
    lb_endpoints: hosts.map(hostMessage),
    // A wrapper, which the reference always sets.
    load_balancing_weight: localityWeight,
    ...(priority === 0 ? {} : { priority }),
  };
}

function hostMessage(host: HostResource): JsonObject {
  const { address } = host;
  return {
    endpoint: {
      address: hostAddressMessage(address),
      health_check_config: {},
      ...present({ hostname: host.hostname }),
    },
    health_status: HEALTH_STATUS[host.health],
    ...(host.metadata === undefined
      ? {}
      : { metadata: { filter_metadata: host.metadata as JsonObject } }),
    load_balancing_weight: host.weight,
  };
}

function present(fields: Readonly<Record<string, JsonValue>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
