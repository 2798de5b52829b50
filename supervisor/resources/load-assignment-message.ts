/** Writes the hosts of a cluster as the ClusterLoadAssignment that `/config_dump` shows. */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type {
  ClusterHostsResource,
  HostHealth,
  HostResource,
} from '../../shared/resources/cluster.ts';

const HEALTH: Readonly<Record<HostHealth, string>> = {
  healthy: 'HEALTHY',
  degraded: 'DEGRADED',
  unhealthy: 'UNHEALTHY',
};

export function loadAssignmentMessage(hosts: ClusterHostsResource): JsonObject {
  const localities = new Map<string, HostResource[]>();
  for (const host of hosts.hosts) {
    const key = JSON.stringify([host.priority, host.region, host.zone, host.subZone]);
    const known = localities.get(key);
    if (known === undefined) localities.set(key, [host]);
    else known.push(host);
  }
  return {
    cluster_name: hosts.cluster,
    endpoints: [...localities.values()].map(localityMessage),
    policy: { overprovisioning_factor: hosts.overprovisioningFactor },
  };
}

function localityMessage(hosts: readonly HostResource[]): JsonObject {
  const [first] = hosts;
  return {
    locality: {
      ...given('region', first?.region),
      ...given('zone', first?.zone),
      ...given('sub_zone', first?.subZone),
    },
    lb_endpoints: hosts.map(endpointMessage),
    load_balancing_weight: first?.localityWeight ?? 0,
    ...(first === undefined || first.priority === 0 ? {} : { priority: first.priority }),
  };
}

function endpointMessage(host: HostResource): JsonObject {
  const { address } = host;
  return {
    endpoint: {
      address:
        address.kind === 'pipe'
          ? { pipe: { path: address.path } }
          : { socket_address: { address: address.address, port_value: address.port } },
      health_check_config: {},
      ...given('hostname', host.hostname),
    },
    health_status: HEALTH[host.health],
    ...(host.metadata === undefined ? {} : { metadata: { filter_metadata: host.metadata } }),
    load_balancing_weight: host.weight,
  } as JsonObject;
}

function given(name: string, value: string | undefined): JsonObject {
  return value === undefined || value === '' ? {} : { [name]: value };
}
