/** Resolves a ClusterLoadAssignment to the hosts of a cluster. */
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type {
  Endpoint,
  LbEndpoint,
  LocalityLbEndpoints,
} from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import {
  type ClusterHostsResource,
  type HostAddress,
  type HostResource,
  printInternal,
} from '../../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS, healthOf } from '../../../shared/resources/clusters/host-health.ts';
import { printAddress } from '../../../shared/addresses/print-address.ts';
import { resolveAddress } from '../addresses.ts';

import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveEndpointCheck } from './health-checks.ts';
import { resolveDrop } from './drop-overload.ts';
import { type LocalityInfo, usualHost } from './host-fast-path.ts';
import { isSamePlace } from '../../../shared/resources/clusters/host-place.ts';

const FIELDS = knownFields<ClusterLoadAssignment>(
  ['cluster_name', 'endpoints', 'policy'],
  ['named_endpoints'],
);
const POLICY_FIELDS = knownFields<NonNullable<ClusterLoadAssignment['policy']>>(
  ['overprovisioning_factor', 'drop_overloads'],
  // Of assignments that a control plane sends: see endpoint-source.ts.
  ['endpoint_stale_after'],
);
const LOCALITY_FIELDS = knownFields<LocalityLbEndpoints>(
  ['locality', 'lb_endpoints', 'load_balancing_weight', 'priority'],
  ['metadata', 'proximity'],
);
const LB_ENDPOINT_FIELDS = knownFields<LbEndpoint>([
  'endpoint',
  'health_status',
  'metadata',
  'load_balancing_weight',
]);
export const ENDPOINT_FIELDS = knownFields<Endpoint>(
  ['address', 'hostname', 'health_check_config', 'additional_addresses'],
  ['observability_name'],
);

const OVERPROVISIONING_FACTOR = 140;
const STATIC_HINT =
  ". Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'";

/** Hosts by the messages that they were resolved from, asked for in the order of the assignment. */
export interface ResolvedHosts {
  find(endpoint: LbEndpoint): HostResource | undefined;
  note(endpoint: LbEndpoint, host: HostResource): void;
}

/**
 * A message that `known` has a host of, of the same place, is that host: it is not looked at again.
 */
export function resolveLoadAssignment(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  known?: ResolvedHosts,
): ClusterHostsResource {
  const hosts = uniqueHosts(resolveHosts(message, scope, known));
  return { cluster, hosts, ...resolvePolicy(message, scope) };
}

function resolveHosts(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  known?: ResolvedHosts,
): readonly HostResource[] {
  return resolveEndpoints(message, scope, (endpoint, locality, place) => {
    const earlier = known?.find(endpoint);
    const host =
      earlier !== undefined && isAt(earlier, locality)
        ? earlier
        : (usualHost(endpoint, locality) ?? resolveHost(endpoint, locality, place()));
    if (host !== undefined) known?.note(endpoint, host);
    return host;
  });
}

/**
 * The assignment of a cluster whose hosts are those of its configuration: an address may be several
 * of them.
 */
export function resolveStaticHosts(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): ClusterHostsResource {
  const hosts = numberedHosts(resolveHosts(message, scope));
  return { cluster, hosts, ...resolvePolicy(message, scope) };
}

/** The assignment of a cluster that finds its hosts by itself, before it has found any. */
export function withoutHosts(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): ClusterHostsResource {
  return { cluster, hosts: [], ...resolvePolicy(message, scope) };
}

/** What a host has from its place in an assignment, whatever its address is. */
export type EndpointInfo = Omit<HostResource, 'id' | 'address'>;

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

type EndpointResolver<Resolved> = (
  endpoint: LbEndpoint,
  locality: LocalityInfo,
  /** Where it stands: made for those that ask. */
  scope: () => Scope,
) => Resolved | undefined;

/**
 * Resolves each endpoint of an assignment with `resolveOne`; `scope` is the endpoint's place in its
 * locality.
 */
export function resolveEndpoints<Resolved>(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  resolveOne: EndpointResolver<Resolved>,
): readonly Resolved[] {
  const assignment = message ?? {};
  refuseOtherFields(assignment, FIELDS, scope);
  refuseOtherFields(assignment.policy ?? {}, POLICY_FIELDS, scope.at('policy'));
  const resolved: Resolved[] = [];
  for (const [index, locality] of (assignment.endpoints ?? []).entries()) {
    const place = scope.at('endpoints', index);
    refuseOtherFields(locality, LOCALITY_FIELDS, place);
    const facts = localityInfo(locality);
    for (const [at, endpoint] of (locality.lb_endpoints ?? []).entries()) {
      const one = resolveOne(endpoint, facts, () => place.at('lb_endpoints', at));
      if (one !== undefined) resolved.push(one);
    }
  }
  return resolved;
}

function resolvePolicy(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): Pick<ClusterHostsResource, 'overprovisioningFactor' | 'dropOverload'> {
  const { overprovisioning_factor: overprovisioningFactor = OVERPROVISIONING_FACTOR } =
    message?.policy ?? {};
  const drops = message?.policy?.drop_overloads ?? [];
  const place = scope.at('policy', 'drop_overloads');
  return { overprovisioningFactor, ...optional('dropOverload', resolveDrop(drops, place)) };
}

/** A further host of an address has the number of its entry in its id. */
function numberedHosts(hosts: readonly HostResource[]): readonly HostResource[] {
  const ids = new Set<string>();
  return hosts.map((host, entry) => {
    if (ids.has(host.id)) return { ...host, id: `${host.id}#${entry}` };
    ids.add(host.id);
    return host;
  });
}

/** An address that is named twice is one host: the first entry counts. */
function uniqueHosts(hosts: readonly HostResource[]): readonly HostResource[] {
  const ids = new Set<string>();
  for (const { id } of hosts) ids.add(id);
  if (ids.size === hosts.length) return hosts;
  return hosts.filter(({ id }) => ids.delete(id));
}

function localityInfo(message: LocalityLbEndpoints): LocalityInfo {
  const { region = '', zone = '', sub_zone: subZone = '' } = message.locality ?? {};
  return {
    priority: message.priority ?? 0,
    region,
    zone,
    subZone,
    ...optional('localityWeight', message.load_balancing_weight),
  };
}

function isAt(host: HostResource, locality: LocalityInfo): boolean {
  return (
    host.priority === locality.priority &&
    isSamePlace(host, locality) &&
    host.localityWeight === locality.localityWeight
  );
}

/** Checks what stands beside the address; `scope` is that of `message`. */
export function endpointInfo(
  message: LbEndpoint,
  locality: LocalityInfo,
  scope: Scope,
): EndpointInfo {
  refuseOtherFields(message, LB_ENDPOINT_FIELDS, scope);
  const { endpoint = {} } = message;
  const metadata = resolveMetadata(message.metadata);
  const configuredHealth = configured(message);
  const healthBits = configuredHealth === undefined ? 0 : CONFIGURED_BITS[configuredHealth];
  // Spreading what is optional would make objects of ten thousand hosts that are slow to read.
  const facts: Writable<EndpointInfo> = {
    hostname: endpoint.hostname ?? '',
    weight: message.load_balancing_weight ?? 1,
    priority: locality.priority,
    health: healthOf(healthBits),
    region: locality.region,
    zone: locality.zone,
    subZone: locality.subZone,
    canary: metadata?.['envoy.lb']?.['canary'] === true,
  };
  if (configuredHealth !== undefined) Object.assign(facts, { healthBits, configuredHealth });
  if (locality.localityWeight !== undefined) facts.localityWeight = locality.localityWeight;
  if (metadata !== undefined) facts.metadata = metadata;
  if (endpoint.health_check_config !== undefined) {
    const isPipe = endpoint.address?.pipe !== undefined;
    const place = scope.at('endpoint', 'health_check_config');
    Object.assign(facts, resolveEndpointCheck(endpoint.health_check_config, isPipe, place));
  }
  return facts;
}

function resolveHost(
  message: LbEndpoint,
  locality: LocalityInfo,
  place: Scope,
): HostResource | undefined {
  const facts = endpointInfo(message, locality, place);
  const { endpoint = {} } = message;
  const scope = place.at('endpoint');
  refuseOtherFields(endpoint, ENDPOINT_FIELDS, scope);
  const internal = endpoint.address?.envoy_internal_address;
  if (internal !== undefined) {
    const { server_listener_name: listener = '', endpoint_id: endpointId = '' } = internal;
    const id = printInternal(listener, endpointId);
    return { id, address: { kind: 'internal', listener, endpointId }, ...facts };
  }
  const resolved = resolveAddress(endpoint.address ?? {}, scope.at('address'), STATIC_HINT);
  if (resolved === undefined) return undefined;
  const { address } = resolved;
  const host: Writable<HostResource> = {
    id: printAddress(address),
    address: hostAddress(address),
    ...facts,
  };
  const more = moreAddresses(endpoint, address, scope.at('additional_addresses'));
  if (more !== undefined) host.moreAddresses = more;
  return host;
}

type ResolvedAddress = NonNullable<ReturnType<typeof resolveAddress>>['address'];

function moreAddresses(
  { additional_addresses: messages = [] }: Endpoint,
  first: ResolvedAddress,
  scope: Scope,
): readonly string[] | undefined {
  if (messages.length === 0) return undefined;
  return messages.flatMap(({ address = {} }, index) => {
    const place = scope.at(index, 'address');
    const resolved = resolveAddress(address, place, STATIC_HINT)?.address;
    if (resolved === undefined) return [];
    if (resolved.kind !== 'ip' || first.kind !== 'ip') {
      place.error('conflict', 'additional_addresses is only supported for IP addresses.');
      return [];
    }
    if (resolved.port !== first.port) place.unsupported('another port than that of address is');
    return [resolved.address];
  });
}

function hostAddress(
  address: NonNullable<ReturnType<typeof resolveAddress>>['address'],
): HostAddress {
  if (address.kind === 'pipe') return address;
  return { kind: 'ip', address: address.address, port: address.port };
}

const CONFIGURED_BITS = {
  UNHEALTHY: HEALTH_BITS.failed_eds_health,
  TIMEOUT: HEALTH_BITS.failed_eds_health,
  DRAINING: HEALTH_BITS.eds_status_draining,
  DEGRADED: HEALTH_BITS.degraded_eds_health,
} as const;

function configured({ health_status: status }: LbEndpoint): HostResource['configuredHealth'] {
  switch (status) {
    case 'UNHEALTHY':
    case 'DRAINING':
    case 'TIMEOUT':
    case 'DEGRADED':
      return status;
    default:
      return undefined;
  }
}
