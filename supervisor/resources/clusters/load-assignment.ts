/** Resolves a ClusterLoadAssignment to the hosts of a cluster. */
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type {
  Endpoint,
  LbEndpoint,
  LocalityLbEndpoints,
} from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type {
  ClusterHostsResource,
  HostAddress,
  HostHealth,
  HostResource,
} from '../../../shared/resources/cluster.ts';
import { printAddress, resolveAddress } from '../addresses.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

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
const ENDPOINT_FIELDS = knownFields<Endpoint>(
  ['address', 'hostname'],
  // Health checks are refused by themselves.
  ['health_check_config', 'observability_name'],
);

const OVERPROVISIONING_FACTOR = 140;
const STATIC_HINT =
  ". Consider setting resolver_name or setting cluster type to 'STRICT_DNS' or 'LOGICAL_DNS'";

export function resolveLoadAssignment(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): ClusterHostsResource {
  const assignment = message ?? {};
  refuseOtherFields(assignment, FIELDS, scope);
  const { policy = {} } = assignment;
  refuseOtherFields(policy, POLICY_FIELDS, scope.at('policy'));
  const hosts = (assignment.endpoints ?? []).flatMap((locality, index) =>
    resolveLocality(locality, scope.at('endpoints', index)),
  );
  return {
    cluster,
    hosts: uniqueHosts(hosts),
    overprovisioningFactor: policy.overprovisioning_factor ?? OVERPROVISIONING_FACTOR,
  };
}

/** An address that is named twice is one host: the last entry of a priority counts. */
function uniqueHosts(hosts: readonly HostResource[]): readonly HostResource[] {
  const byId = new Map<string, HostResource>();
  for (const host of hosts) byId.set(host.id, host);
  return byId.size === hosts.length ? hosts : [...byId.values()];
}

function resolveLocality(message: LocalityLbEndpoints, scope: Scope): readonly HostResource[] {
  refuseOtherFields(message, LOCALITY_FIELDS, scope);
  const { region = '', zone = '', sub_zone: subZone = '' } = message.locality ?? {};
  const common = {
    priority: message.priority ?? 0,
    region,
    zone,
    subZone,
    ...optional('localityWeight', message.load_balancing_weight),
  };
  const hosts = (message.lb_endpoints ?? []).map((endpoint, index) =>
    resolveHost(endpoint, common, scope.at('lb_endpoints', index)),
  );
  return hosts.filter((host) => host !== undefined);
}

type LocalityFacts = Pick<
  HostResource,
  'priority' | 'region' | 'zone' | 'subZone' | 'localityWeight'
>;

function resolveHost(
  message: LbEndpoint,
  locality: LocalityFacts,
  scope: Scope,
): HostResource | undefined {
  refuseOtherFields(message, LB_ENDPOINT_FIELDS, scope);
  const { endpoint = {} } = message;
  const place = scope.at('endpoint');
  refuseOtherFields(endpoint, ENDPOINT_FIELDS, place);
  const resolved = resolveAddress(endpoint.address ?? {}, place.at('address'), STATIC_HINT);
  if (resolved === undefined) return undefined;
  const metadata = resolveMetadata(message.metadata);
  return {
    id: printAddress(resolved.address),
    address: hostAddress(resolved.address),
    hostname: endpoint.hostname ?? '',
    weight: message.load_balancing_weight ?? 1,
    health: health(message),
    canary: metadata?.['envoy.lb']?.['canary'] === true,
    ...optional('metadata', metadata),
    ...locality,
  };
}

function hostAddress(
  address: NonNullable<ReturnType<typeof resolveAddress>>['address'],
): HostAddress {
  if (address.kind === 'pipe') return address;
  return { kind: 'ip', address: address.address, port: address.port };
}

function health({ health_status: status }: LbEndpoint): HostHealth {
  switch (status) {
    case 'UNHEALTHY':
    case 'DRAINING':
    case 'TIMEOUT':
      return 'unhealthy';
    case 'DEGRADED':
      return 'degraded';
    default:
      return 'healthy';
  }
}
