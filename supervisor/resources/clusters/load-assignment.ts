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
} from '../../../shared/resources/cluster.ts';
import { HEALTH_BITS, healthOf } from '../../../shared/resources/host-health.ts';
import { printAddress, resolveAddress } from '../addresses.ts';

import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveEndpointCheck } from './health-checks.ts';

const FIELDS = knownFields<ClusterLoadAssignment>(
  ['cluster_name', 'endpoints', 'policy'],
  ['named_endpoints'],
);
const POLICY_FIELDS = knownFields<NonNullable<ClusterLoadAssignment['policy']>>(
  ['overprovisioning_factor'],
  // Of assignments that a control plane sends.
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

export function resolveLoadAssignment(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): ClusterHostsResource {
  const hosts = resolveEndpoints(message, scope, resolveHost);
  return { cluster, hosts: uniqueHosts(hosts), overprovisioningFactor: overprovisioning(message) };
}

/** The assignment of a cluster that finds its hosts by itself, before it has found any. */
export function withoutHosts(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
): ClusterHostsResource {
  return { cluster, hosts: [], overprovisioningFactor: overprovisioning(message) };
}

/** What a host has from its place in an assignment, whatever its address is. */
export type EndpointFacts = Omit<HostResource, 'id' | 'address'>;

type EndpointResolver<Resolved> = (
  endpoint: Endpoint,
  facts: EndpointFacts,
  scope: Scope,
) => Resolved | undefined;

/** Resolves each endpoint of an assignment with `resolveOne`; `scope` is the endpoint's own there. */
export function resolveEndpoints<Resolved>(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  resolveOne: EndpointResolver<Resolved>,
): readonly Resolved[] {
  const assignment = message ?? {};
  refuseOtherFields(assignment, FIELDS, scope);
  refuseOtherFields(assignment.policy ?? {}, POLICY_FIELDS, scope.at('policy'));
  return (assignment.endpoints ?? []).flatMap((locality, index) =>
    resolveLocality(locality, scope.at('endpoints', index), resolveOne),
  );
}

function overprovisioning(message: ClusterLoadAssignment | undefined): number {
  return message?.policy?.overprovisioning_factor ?? OVERPROVISIONING_FACTOR;
}

/** An address that is named twice is one host: the last entry of a priority counts. */
function uniqueHosts(hosts: readonly HostResource[]): readonly HostResource[] {
  const byId = new Map<string, HostResource>();
  for (const host of hosts) byId.set(host.id, host);
  return byId.size === hosts.length ? hosts : [...byId.values()];
}

function resolveLocality<Resolved>(
  message: LocalityLbEndpoints,
  scope: Scope,
  resolveOne: EndpointResolver<Resolved>,
): readonly Resolved[] {
  refuseOtherFields(message, LOCALITY_FIELDS, scope);
  const { region = '', zone = '', sub_zone: subZone = '' } = message.locality ?? {};
  const common = {
    priority: message.priority ?? 0,
    region,
    zone,
    subZone,
    ...optional('localityWeight', message.load_balancing_weight),
  };
  const resolved = (message.lb_endpoints ?? []).map((endpoint, index) => {
    const place = scope.at('lb_endpoints', index);
    refuseOtherFields(endpoint, LB_ENDPOINT_FIELDS, place);
    const own = endpoint.endpoint ?? {};
    const checkPlace = place.at('endpoint', 'health_check_config');
    const isPipe = own.address?.pipe !== undefined;
    const facts = {
      ...endpointFacts(endpoint),
      ...resolveEndpointCheck(own.health_check_config, isPipe, checkPlace),
      ...common,
    };
    return resolveOne(own, facts, place.at('endpoint'));
  });
  return resolved.filter((each) => each !== undefined);
}

type LocalityFacts = Pick<
  HostResource,
  'priority' | 'region' | 'zone' | 'subZone' | 'localityWeight'
>;

function endpointFacts(message: LbEndpoint): Omit<EndpointFacts, keyof LocalityFacts> {
  const metadata = resolveMetadata(message.metadata);
  const configuredHealth = configured(message);
  const healthBits = configuredHealth === undefined ? 0 : CONFIGURED_BITS[configuredHealth];
  return {
    hostname: message.endpoint?.hostname ?? '',
    weight: message.load_balancing_weight ?? 1,
    health: healthOf(healthBits),
    ...(configuredHealth === undefined ? {} : { healthBits, configuredHealth }),
    canary: metadata?.['envoy.lb']?.['canary'] === true,
    ...optional('metadata', metadata),
  };
}

function resolveHost(
  endpoint: Endpoint,
  facts: EndpointFacts,
  scope: Scope,
): HostResource | undefined {
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
  return {
    id: printAddress(address),
    address: hostAddress(address),
    ...moreAddresses(endpoint, address, scope.at('additional_addresses')),
    ...facts,
  };
}

type ResolvedAddress = NonNullable<ReturnType<typeof resolveAddress>>['address'];

function moreAddresses(
  { additional_addresses: messages = [] }: Endpoint,
  first: ResolvedAddress,
  scope: Scope,
): Pick<HostResource, 'moreAddresses'> {
  if (messages.length === 0) return {};
  const addresses = messages.flatMap(({ address = {} }, index) => {
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
  return { moreAddresses: addresses };
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
