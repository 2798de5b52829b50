/**
 * The hosts of a cluster as envoy.config.endpoint.v3.ClusterLoadAssignment, for
 * `/config_dump?include_eds`: what the cluster has now, not what was written.
 */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import { hostAddressMessage } from '../address-message.ts';

const HEALTH_STATUS = { healthy: 'HEALTHY', degraded: 'DEGRADED', unhealthy: 'UNHEALTHY' } as const;

export interface AssignmentInfo {
  /** The name of the assignment, which need not be the cluster's. */
  readonly name: string;
  /** The hosts are what a name stands for: such ones have metadata always. */
  readonly isByName: boolean;
}

/** Hosts looked at in one step. */
const HOSTS_PER_STEP = 256;

/** The whole message at once. */
export function endpointMessage(hosts: ClusterHostsResource, facts?: AssignmentInfo): JsonObject {
  const steps = endpointMessageInSteps(hosts, facts);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Fields in the order of their numbers, as Envoy prints this message. */
export function* endpointMessageInSteps(
  hosts: ClusterHostsResource,
  facts: AssignmentInfo = { name: hosts.cluster, isByName: false },
): Steps<JsonObject, ''> {
  const groups = yield* groupByLocality(hosts.hosts);
  const endpoints: JsonObject[] = [];
  for (const group of groups) endpoints.push(yield* localityMessage(group, facts));
  return {
    cluster_name: facts.name,
    ...(endpoints.length === 0 ? {} : { endpoints }),
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
function* groupByLocality(
  hosts: readonly HostResource[],
): Steps<readonly (readonly HostResource[])[], ''> {
  const groups = new Map<string, HostResource[]>();
  for (const [index, host] of hosts.entries()) {
    if (index % HOSTS_PER_STEP === 0) yield '';
    const key = JSON.stringify([host.priority, host.region, host.zone, host.subZone]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [host]);
    else group.push(host);
  }
  return [...groups.values()];
}

function* localityMessage(
  hosts: readonly HostResource[],
  facts: AssignmentInfo,
): Steps<JsonObject, ''> {
  const [first] = hosts;
  const { region = '', zone = '', subZone = '', priority = 0, localityWeight = 0 } = first ?? {};
  const members: JsonObject[] = [];
  for (const host of hosts) {
    if (members.length % HOSTS_PER_STEP === 0) yield '';
    members.push(hostMessage(host, facts));
  }
  return {
    locality: present({ region, zone, sub_zone: subZone }),
    lb_endpoints: members,
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
