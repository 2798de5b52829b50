/** Resolves how a cluster's hosts are chosen: `load_balancing_policy`, or the older `lb_policy`. */
import { typeNameOf } from '../../config/type-name.ts';
import type {
  Cluster,
  Cluster_CommonLbConfig as CommonLbConfig,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ConsistentHashingLbConfig } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type { HealthStatus } from '../../../shared/api/generated/envoy/config/core/v3/health_check.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import type {
  HashingPolicy,
  LeastRequestPolicy,
  NamedHostStatus,
  NestedPolicy,
  RandomPolicy,
  RoundRobinPolicy,
} from '../../../shared/resources/clusters/lb-policy.ts';

import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional, wholePercent } from '../values.ts';
import { resolveMaglev, resolveRingHash } from './hash-balancing.ts';
import type { Policy } from './child-policies.ts';
import { resolvePolicies } from './lb-policies.ts';
import { resolveZoneAware } from './locality-balancing.ts';
import { withSubsets } from './subset-balancing.ts';
import { leastRequest, roundRobin } from './turn-balancing.ts';

const COMMON_FIELDS = knownFields<CommonLbConfig>(
  [
    'healthy_panic_threshold',
    'ignore_new_hosts_until_first_hc',
    'locality_weighted_lb_config',
    'zone_aware_lb_config',
    'consistent_hashing_lb_config',
    'override_host_status',
    'close_connections_on_host_set_change',
  ],
  // A field for statistics alone: see merge-window.ts.
  ['update_merge_window'],
);

const PANIC_THRESHOLD_PERCENT = 50;

/** Types of clusters with a balancer of their own. */
const PROVIDING_TYPES: ReadonlySet<string> = new Set([
  'envoy.extensions.clusters.aggregate.v3.ClusterConfig',
  'envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig',
]);

/** What a cluster's fields say of how its hosts are chosen. */
export interface LoadBalancing extends Pick<
  ClusterResource,
  'healthyPanicThreshold' | 'namedHostStatuses'
> {
  readonly policy: Policy;
}

export function resolveLoadBalancing(message: Cluster, scope: Scope): LoadBalancing {
  const common = message.common_lb_config ?? {};
  const place = scope.at('common_lb_config');
  refuseOtherFields(common, COMMON_FIELDS, place);
  const { healthy_panic_threshold: threshold } = common;
  const policy = resolvePolicy(message, scope);
  checkProvided(message, policy, scope);
  checkHostnameHashing(message, place.at('consistent_hashing_lb_config'));
  const statuses = resolveNamedStatuses(
    common.override_host_status?.statuses,
    place.at('override_host_status', 'statuses'),
  );
  return {
    policy,
    ...optional('namedHostStatuses', statuses),
    healthyPanicThreshold:
      threshold === undefined ? PANIC_THRESHOLD_PERCENT : wholePercent(threshold),
  };
}

/** What the policies say themselves. */
function checkOlderFields(
  { common_lb_config: common = {}, lb_subset_config: subsets }: Cluster,
  scope: Scope,
): void {
  if (subsets !== undefined) {
    scope.error(
      'conflict',
      'cluster: load_balancing_policy cannot be combined with lb_subset_config',
    );
  }
  const { zone_aware_lb_config: zone, locality_weighted_lb_config: weighted } = common;
  if ((zone ?? weighted ?? common.consistent_hashing_lb_config) !== undefined) {
    scope
      .at('common_lb_config')
      .error(
        'conflict',
        'cluster: load_balancing_policy cannot be combined with partial fields (zone_aware_lb_config, locality_weighted_lb_config, consistent_hashing_lb_config) of common_lb_config',
      );
  }
}

/** A cluster that brings its balancer has to say so, and no other. */
function checkProvided(message: Cluster, { kind }: Policy, scope: Scope): void {
  const { type = 'STATIC', cluster_type: custom, lb_policy: older = 'ROUND_ROBIN' } = message;
  const isOriginal = custom === undefined && type === 'ORIGINAL_DST';
  const { name = '', load_balancing_policy: newer } = message;
  const place = scope.at(newer === undefined ? 'lb_policy' : 'load_balancing_policy');
  if (isOriginal && older !== 'CLUSTER_PROVIDED') {
    place.error(
      'conflict',
      `cluster: LB policy ${older} is not valid for Cluster type ORIGINAL_DST. Only 'CLUSTER_PROVIDED' is allowed with cluster type 'ORIGINAL_DST'`,
    );
    return;
  }
  const isSaid = kind === 'cluster_provided';
  if (isSaid === (isOriginal || bringsBalancer(custom))) return;
  place.error(
    'conflict',
    isSaid
      ? `cluster manager: cluster provided LB specified but cluster '${name}' did not provide one. Check cluster documentation.`
      : `cluster manager: cluster provided LB not specified but cluster '${name}' provided one. Check cluster documentation.`,
  );
}

/** Those that look names up have hosts like any other. */
function bringsBalancer(custom: Cluster['cluster_type']): boolean {
  const type = typeNameOf(custom?.typed_config?.['@type'] ?? '');
  return PROVIDING_TYPES.has(type) || custom?.name === 'envoy.cluster.original_dst';
}

/** Hosts of other clusters have no names of their own to be known by. */
function checkHostnameHashing(message: Cluster, scope: Scope): void {
  const { type = 'STATIC', cluster_type: custom, common_lb_config: common } = message;
  if (common?.consistent_hashing_lb_config?.use_hostname_for_hashing !== true) return;
  const name = custom?.name ?? `envoy.cluster.${String(type).toLowerCase()}`;
  if (name === 'envoy.cluster.strict_dns') return;
  scope.error(
    'conflict',
    `Cannot use hostname for consistent hashing loadbalancing for cluster of type: '${name}'`,
  );
}

/** Whether a host has no status or is said to be healthy is the same here. */
function resolveNamedStatuses(
  statuses: readonly (HealthStatus | number)[] | undefined,
  scope: Scope,
): readonly NamedHostStatus[] | undefined {
  if (statuses === undefined) return undefined;
  if (statuses.includes('UNKNOWN') !== statuses.includes('HEALTHY')) {
    scope.unsupported('one of UNKNOWN and HEALTHY without the other is');
  }
  const isNamed = (status: HealthStatus | number): status is NamedHostStatus =>
    typeof status === 'string' && status !== 'UNKNOWN';
  return statuses.filter(isNamed);
}

function resolvePolicy(message: Cluster, scope: Scope): Policy {
  const { load_balancing_policy: policy, name = '' } = message;
  if (policy !== undefined) {
    checkOlderFields(message, scope);
    return resolvePolicies(policy, scope.at('load_balancing_policy'), name);
  }
  const older = resolveOlder(message, scope);
  if (older.kind === 'cluster_provided') return older;
  return withSubsets(
    withLocalities(older, message, scope),
    message.lb_subset_config,
    scope.at('lb_subset_config'),
  );
}

/** The older fields say it for all policies; those that hash prefer no zone. */
function withLocalities(
  policy: OlderPolicy,
  { common_lb_config: common = {} }: Cluster,
  scope: Scope,
): NestedPolicy {
  const { zone_aware_lb_config: zone, locality_weighted_lb_config: weighted } = common;
  if (weighted !== undefined) return { ...policy, localities: { kind: 'weighted' } };
  const zoneAware = resolveZoneAware(zone, scope.at('common_lb_config', 'zone_aware_lb_config'));
  const hashes = policy.kind === 'ring_hash' || policy.kind === 'maglev';
  return hashes ? policy : { ...policy, ...zoneAware };
}

type OlderPolicy = RoundRobinPolicy | RandomPolicy | LeastRequestPolicy | HashingPolicy;

function resolveOlder(
  message: Cluster,
  scope: Scope,
): OlderPolicy | Extract<Policy, { readonly kind: 'cluster_provided' }> {
  const { lb_policy: policy = 'ROUND_ROBIN' } = message;
  const place = scope.at('lb_policy');
  switch (policy) {
    case 'ROUND_ROBIN':
      return roundRobin(message.round_robin_lb_config ?? {}, scope.at('round_robin_lb_config'));
    case 'RANDOM':
      return { kind: 'random' };
    case 'LEAST_REQUEST':
      return leastRequest(
        message.least_request_lb_config ?? {},
        scope.at('least_request_lb_config'),
      );
    case 'RING_HASH':
      return resolveRingHash(
        { ...message.ring_hash_lb_config, ...consistentHashing(message) },
        scope.at('ring_hash_lb_config'),
      );
    case 'MAGLEV':
      return resolveMaglev(
        { ...message.maglev_lb_config, ...consistentHashing(message) },
        scope.at('maglev_lb_config'),
      );
    case 'LOAD_BALANCING_POLICY_CONFIG':
      scope.error('conflict', 'cluster: field load_balancing_policy need to be set');
      break;
    case 'CLUSTER_PROVIDED':
      if (message.lb_subset_config !== undefined) {
        place.error(
          'conflict',
          'cluster: LB policy CLUSTER_PROVIDED cannot be combined with lb_subset_config',
        );
      }
      return { kind: 'cluster_provided' };
    default:
      place.unsupported(
        `load balancing policy ${policy} is`,
        'there is ROUND_ROBIN, LEAST_REQUEST, RANDOM, RING_HASH, MAGLEV',
      );
  }
  return { kind: 'round_robin' };
}

/** Where the older fields say it for both policies that hash. */
function consistentHashing({ common_lb_config: common }: Cluster): {
  readonly consistent_hashing_lb_config?: ConsistentHashingLbConfig;
} {
  const config = common?.consistent_hashing_lb_config;
  return config === undefined ? {} : { consistent_hashing_lb_config: config };
}
