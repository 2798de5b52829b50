/**
 * The hosts of a cluster as envoy.config.endpoint.v3.ClusterLoadAssignment, for
 * `/config_dump?include_eds`: what the cluster has now, not what was written.
 */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { hostAddressMessage } from '../address-message.ts';

const HEALTH_STATUS = { healthy: 'HEALTHY', degraded: 'DEGRADED', unhealthy: 'UNHEALTHY' } as const;

export interface AssignmentInfo {
  /** Of the assignment, which need not be the cluster's. */
  readonly name: string;
  /** The hosts are what a name stands for: such ones have metadata always. */
  readonly isByName: boolean;
}

/** Fields in the order of their numbers, as Envoy prints this message. */
export function endpointMessage(
  hosts: ClusterHostsResource,
  facts: AssignmentInfo = { name: hosts.cluster, isByName: false },
): JsonObject {
  const groups = groupByLocality(hosts.hosts);
  const ofLocality = (group: readonly HostResource[]): JsonObject => localityMessage(group, facts);
  return {
    cluster_name: facts.name,
    ...(groups.length === 0 ? {} : { endpoints: groups.map(ofLocality) }),
    policy: policyMessage(hosts),
  };
}

/** A share is shown in millionths, however it was written. */
function policyMessage({ overprovisioningFactor, dropOverload }: ClusterHostsResource): JsonObject {
  const factor = { overprovisioning_factor: overprovisioningFactor };
  if (dropOverload === undefined) return factor;
  const { category, share } = dropOverload;
  const percentage = { numerator: Math.round(share * 1_000_000), denominator: 'MILLION' };
  return { drop_overloads: [{ category, drop_percentage: percentage }], ...factor };
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

function localityMessage(hosts: readonly HostResource[], facts: AssignmentInfo): JsonObject {
  const [first] = hosts;
  const { region = '', zone = '', subZone = '', priority = 0, localityWeight = 0 } = first ?? {};
  return {
    locality: present({ region, zone, sub_zone: subZone }),
    lb_endpoints: hosts.map((host) => hostMessage(host, facts)),
    // A wrapper, which Envoy always sets.
    load_balancing_weight: localityWeight,
    ...(priority === 0 ? {} : { priority }),
  };
}

function hostMessage(host: HostResource, { isByName }: AssignmentInfo): JsonObject {
  const { address, metadata } = host;
  return {
    endpoint: {
      address: hostAddressMessage(address),
      health_check_config: checkMessage(host),
      ...present({ hostname: host.hostname }),
    },
    health_status: HEALTH_STATUS[host.health],
    ...(metadata === undefined
      ? isByName && { metadata: {} }
      : { metadata: { filter_metadata: metadata as JsonObject } }),
    load_balancing_weight: host.weight,
  };
}

/** Only where checks ask elsewhere, or by another name, than requests do. */
function checkMessage({ address, check }: HostResource): JsonObject {
  const isElsewhere =
    check?.port !== undefined && address.kind === 'ip' && check.port !== address.port;
  return {
    ...(isElsewhere ? { port_value: check.port } : {}),
    ...present({ hostname: check?.hostname ?? '' }),
  };
}

function present(fields: Readonly<Record<string, JsonValue>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}
