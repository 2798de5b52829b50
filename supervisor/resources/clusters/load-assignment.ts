/** Resolves a ClusterLoadAssignment to the hosts of a cluster. */
import type { ClusterLoadAssignment } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type {
  LbEndpoint,
  LocalityLbEndpoints,
} from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type {
  ClusterHostsResource,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveDrop } from './drop-overload.ts';
import { type LocalityInfo, usualHost } from './host-fast-path.ts';
import { isSamePlace } from '../../../shared/resources/clusters/host-place.ts';
import { resolveHost } from './endpoint.ts';

const FIELDS = knownFields<ClusterLoadAssignment>(
  ['cluster_name', 'endpoints', 'policy'],
  ['named_endpoints'],
);
const POLICY_FIELDS = knownFields<NonNullable<ClusterLoadAssignment['policy']>>(
  ['overprovisioning_factor', 'drop_overloads'],
  // A field for assignments that a control plane sends: see endpoint-source.ts.
  ['endpoint_stale_after'],
);
const LOCALITY_FIELDS = knownFields<LocalityLbEndpoints>(
  ['locality', 'lb_endpoints', 'load_balancing_weight', 'priority'],
  ['metadata', 'proximity'],
);

const OVERPROVISIONING_FACTOR = 140;
/** Resolving an endpoint takes some microseconds. */
const ENDPOINTS_PER_STEP = 128;
/** Looking at a host's name takes less. */
const NAMES_PER_STEP = 1024;

/** Hosts by the messages that they were resolved from, asked for in the order of the assignment. */
export interface ResolvedHosts {
  find(endpoint: LbEndpoint): HostResource | undefined;
  note(endpoint: LbEndpoint, host: HostResource): void;
}

/** As `loadAssignmentInSteps`, for one that is known to be small. */
export function resolveLoadAssignment(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
): ClusterHostsResource {
  return atOnce(loadAssignmentInSteps(cluster, message, scope));
}

/**
 * A message that `known` has a host of, of the same place, is that host: it is not looked at again.
 */
export function* loadAssignmentInSteps(
  cluster: string,
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  known?: ResolvedHosts,
): Steps<ClusterHostsResource> {
  const hosts = yield* uniqueHosts(yield* resolveHosts(message, scope, known));
  return { cluster, hosts, ...resolvePolicy(message, scope) };
}

function resolveHosts(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  known?: ResolvedHosts,
): Steps<readonly HostResource[]> {
  return endpointsInSteps(message, scope, (endpoint, locality, place) => {
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
  const hosts = numberedHosts(atOnce(resolveHosts(message, scope)));
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
  return atOnce(endpointsInSteps(message, scope, resolveOne));
}

function* endpointsInSteps<Resolved>(
  message: ClusterLoadAssignment | undefined,
  scope: Scope,
  resolveOne: EndpointResolver<Resolved>,
): Steps<readonly Resolved[]> {
  const assignment = message ?? {};
  refuseOtherFields(assignment, FIELDS, scope);
  refuseOtherFields(assignment.policy ?? {}, POLICY_FIELDS, scope.at('policy'));
  const resolved: Resolved[] = [];
  for (const [index, locality] of (assignment.endpoints ?? []).entries()) {
    const place = scope.at('endpoints', index);
    refuseOtherFields(locality, LOCALITY_FIELDS, place);
    const facts = localityInfo(locality);
    if ((index + 1) % ENDPOINTS_PER_STEP === 0) yield;
    for (const [at, endpoint] of (locality.lb_endpoints ?? []).entries()) {
      const one = resolveOne(endpoint, facts, () => place.at('lb_endpoints', at));
      if (one !== undefined) resolved.push(one);
      if ((at + 1) % ENDPOINTS_PER_STEP === 0) yield;
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
function* uniqueHosts(hosts: readonly HostResource[]): Steps<readonly HostResource[]> {
  const ids = new Set<string>();
  const unique: HostResource[] = [];
  for (const [at, host] of hosts.entries()) {
    const known = ids.size;
    if (ids.add(host.id).size > known) unique.push(host);
    if ((at + 1) % NAMES_PER_STEP === 0) yield;
  }
  return unique.length === hosts.length ? hosts : unique;
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
