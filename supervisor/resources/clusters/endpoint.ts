/** Resolves one endpoint of a load assignment: its addresses, health, metadata and weight. */
import type {
  Endpoint,
  LbEndpoint,
} from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import {
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
import { resolveEndpointCheck } from './health-checks.ts';
import type { LocalityInfo } from './host-fast-path.ts';
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
const STATIC_HINT =
  ". Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'";

/** What a host has from its place in an assignment, whatever its address is. */
export type EndpointInfo = Omit<HostResource, 'id' | 'address'>;

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] };

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

export function resolveHost(
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
