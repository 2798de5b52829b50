/** Resolves how a cluster's hosts are chosen: `load_balancing_policy`, or the older `lb_policy`. */
import type {
  Cluster,
  Cluster_CommonLbConfig as CommonLbConfig,
  LoadBalancingPolicy,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { ConsistentHashingLbConfig } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type { LeastRequest } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/least_request/v3/least_request.ts';
import type {
  OverrideHost,
  OverrideHost_OverrideHostSource,
} from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/override_host/v3/override_host.ts';
import type { Random } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/random/v3/random.ts';
import type { RoundRobin } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/round_robin/v3/round_robin.ts';
import type { Subset } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/subset/v3/subset.ts';
import type { LbPolicy } from '../../../shared/resources/lb-policy.ts';
import { extension, ExtensionRegistry, typeName } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float, optional } from '../values.ts';
import { resolveMaglev, resolveRingHash } from './hash-balancing.ts';
import { resolveLocalities, resolveZoneAware } from './locality-balancing.ts';
import { resolveReportedWeights } from './reported-weights.ts';
import { resolveSlowStart } from './slow-start.ts';
import { resolveSubsets } from './subset-balancing.ts';

/** What a policy adds to what holds for all of them. */
type Policy = Omit<LbPolicy, 'healthyPanicThreshold'>;

/** Of the API: such an entry of a list is not passed over for the next one. */
const NOT_HERE: ReadonlySet<string> = new Set(
  [
    'cluster_provided.v3.ClusterProvided',
    'dynamic_modules.v3.DynamicModulesLoadBalancerConfig',
    'load_aware_locality.v3.LoadAwareLocality',
    'pick_first.v3.PickFirst',
    'wrr_locality.v3.WrrLocality',
  ].map((name) => `envoy.extensions.load_balancing_policies.${name}`),
);

const RANDOM_FIELDS = knownFields<Random>(['locality_lb_config']);
const ROUND_ROBIN_FIELDS = knownFields<RoundRobin>(['locality_lb_config', 'slow_start_config']);
const LEAST_REQUEST_FIELDS = knownFields<LeastRequest>([
  'choice_count',
  'active_request_bias',
  'slow_start_config',
  'locality_lb_config',
  'selection_method',
]);
const OVERRIDE_FIELDS = knownFields<OverrideHost>(['override_host_sources', 'fallback_policy']);
const OVERRIDE_SOURCE_FIELDS = knownFields<OverrideHost_OverrideHostSource>(['header']);

export const POLICIES = new ExtensionRegistry<Policy>(
  'envoy.load_balancing_policies',
  'load balancing policy',
  [
    extension(
      'envoy.load_balancing_policies.round_robin',
      'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
      roundRobin,
    ),
    extension(
      'envoy.load_balancing_policies.client_side_weighted_round_robin',
      'envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin',
      resolveReportedWeights,
    ),
    extension(
      'envoy.load_balancing_policies.random',
      'envoy.extensions.load_balancing_policies.random.v3.Random',
      random,
    ),
    extension(
      'envoy.load_balancing_policies.least_request',
      'envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest',
      leastRequest,
    ),
    extension(
      'envoy.load_balancing_policies.ring_hash',
      'envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash',
      resolveRingHash,
    ),
    extension(
      'envoy.load_balancing_policies.maglev',
      'envoy.extensions.load_balancing_policies.maglev.v3.Maglev',
      resolveMaglev,
    ),
    extension(
      'envoy.load_balancing_policies.subset',
      'envoy.extensions.load_balancing_policies.subset.v3.Subset',
      subset,
    ),
    extension(
      'envoy.load_balancing_policies.override_host',
      'envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost',
      overrideHost,
    ),
  ],
);

function roundRobin(message: RoundRobin, scope: Scope): Policy {
  refuseOtherFields(message, ROUND_ROBIN_FIELDS, scope);
  return {
    kind: 'ROUND_ROBIN',
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}

function random(message: Random, scope: Scope): Policy {
  refuseOtherFields(message, RANDOM_FIELDS, scope);
  const place = scope.at('locality_lb_config');
  return { kind: 'RANDOM', ...resolveLocalities(message.locality_lb_config, place) };
}

function leastRequest(message: LeastRequest, scope: Scope): Policy {
  refuseOtherFields(message, LEAST_REQUEST_FIELDS, scope);
  const { choice_count: choiceCount = 2, active_request_bias: bias } = message;
  const activeRequestBias = bias === undefined ? 1 : float(bias.default_value ?? 0);
  const biasKey = bias?.runtime_key;
  const scansAll = message.selection_method === 'FULL_SCAN';
  return {
    kind: 'LEAST_REQUEST',
    leastRequest: {
      choiceCount,
      activeRequestBias,
      ...optional('activeRequestBiasKey', biasKey === '' ? undefined : biasKey),
      ...(scansAll ? { scansAll } : {}),
    },
    ...resolveSlowStart(message.slow_start_config, scope.at('slow_start_config')),
    ...resolveLocalities(message.locality_lb_config, scope.at('locality_lb_config')),
  };
}

function subset(message: Subset, scope: Scope): Policy | undefined {
  const policy = resolvePolicies(message.subset_lb_policy, scope.at('subset_lb_policy'));
  return { ...policy, ...optional('subsets', resolveSubsets(message, scope)) };
}

function overrideHost(message: OverrideHost, scope: Scope): Policy | undefined {
  refuseOtherFields(message, OVERRIDE_FIELDS, scope);
  const headers = (message.override_host_sources ?? []).map((source, index) => {
    refuseOtherFields(source, OVERRIDE_SOURCE_FIELDS, scope.at('override_host_sources', index));
    return (source.header ?? '').toLowerCase();
  });
  const policy = resolvePolicies(message.fallback_policy, scope.at('fallback_policy'));
  return { ...policy, overrideHeaders: headers };
}

const COMMON_FIELDS = knownFields<CommonLbConfig>(
  [
    'healthy_panic_threshold',
    'ignore_new_hosts_until_first_hc',
    'locality_weighted_lb_config',
    'zone_aware_lb_config',
    'consistent_hashing_lb_config',
    'override_host_status',
  ],
  // Changes of one turn of the loop travel together.
  ['update_merge_window'],
);

const PANIC_THRESHOLD_PERCENT = 50;

export function resolveLbPolicy(message: Cluster, scope: Scope): LbPolicy {
  const common = message.common_lb_config ?? {};
  const place = scope.at('common_lb_config');
  refuseOtherFields(common, COMMON_FIELDS, place);
  const { healthy_panic_threshold: threshold, locality_weighted_lb_config: weighted } = common;
  const policy = resolvePolicy(message, scope);
  checkHostnameHashing(message, place.at('consistent_hashing_lb_config'));
  checkOverrideStatus(common.override_host_status?.statuses, place.at('override_host_status'));
  const subsets = resolveSubsets(message.lb_subset_config, scope.at('lb_subset_config'));
  return {
    ...(message.load_balancing_policy === undefined
      ? resolveZoneAware(common.zone_aware_lb_config, place.at('zone_aware_lb_config'))
      : {}),
    ...policy,
    ...(weighted === undefined ? {} : { weighsLocalities: true }),
    ...optional('subsets', subsets ?? policy.subsets),
    healthyPanicThreshold:
      threshold === undefined ? PANIC_THRESHOLD_PERCENT : float(threshold.value ?? 0),
  };
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

/** A host that a filter or a header names is taken while it is not unhealthy. */
function checkOverrideStatus(statuses: readonly unknown[] | undefined, scope: Scope): void {
  if (statuses === undefined) return;
  const usable = new Set<unknown>(['UNKNOWN', 'HEALTHY', 'DEGRADED']);
  const given = new Set(statuses);
  if (given.size === usable.size && [...given].every((status) => usable.has(status))) return;
  scope.at('statuses').unsupported('another set than UNKNOWN, HEALTHY and DEGRADED is');
}

function resolvePolicy(message: Cluster, scope: Scope): Policy {
  const { lb_policy: policy = 'ROUND_ROBIN', name = '' } = message;
  if (message.load_balancing_policy !== undefined) {
    return resolvePolicies(message.load_balancing_policy, scope.at('load_balancing_policy'), name);
  }
  const place = scope.at('lb_policy');
  switch (policy) {
    case 'ROUND_ROBIN':
      return roundRobin(message.round_robin_lb_config ?? {}, scope.at('round_robin_lb_config'));
    case 'RANDOM':
      return { kind: policy };
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
      if (!providesNoBalancer(message)) break;
      place.error(
        'conflict',
        `cluster manager: cluster provided LB specified but cluster '${name}' did not provide one. Check cluster documentation.`,
      );
      break;
    default:
      place.unsupported(
        `load balancing policy ${policy} is`,
        'there is ROUND_ROBIN, LEAST_REQUEST, RANDOM, RING_HASH, MAGLEV',
      );
  }
  return { kind: 'ROUND_ROBIN' };
}

/** Where the older fields say it for both policies that hash. */
function consistentHashing({ common_lb_config: common }: Cluster): {
  readonly consistent_hashing_lb_config?: ConsistentHashingLbConfig;
} {
  const config = common?.consistent_hashing_lb_config;
  return config === undefined ? {} : { consistent_hashing_lb_config: config };
}

/** Cluster types with a balancer of their own are refused by themselves. */
function providesNoBalancer({ type = 'STATIC', cluster_type: custom }: Cluster): boolean {
  return custom === undefined && type !== 'ORIGINAL_DST';
}

/** The first policy that is known counts. */
function resolvePolicies(
  message: LoadBalancingPolicy | undefined,
  place: Scope,
  cluster = '',
): Policy {
  const policies = message?.policies ?? [];
  const scope = place.at('policies');
  const names = policies.map(({ typed_extension_config: config }) => config?.name ?? '');
  for (const [index, { typed_extension_config: config = {} }] of policies.entries()) {
    const entry = scope.at(index, 'typed_extension_config');
    const isRefused = NOT_HERE.has(typeName(config.typed_config?.['@type'] ?? ''));
    if (!isRefused && !POLICIES.knows(config, entry)) continue;
    const policy = POLICIES.resolve(config, entry);
    return policy ?? { kind: 'ROUND_ROBIN' };
  }
  if (names.length === 0) {
    scope.error(
      'conflict',
      `cluster: didn't find a registered load balancer factory implementation for cluster: '${cluster}' with names from []`,
    );
  } else {
    scope.error(
      'unsupported',
      `load balancing policies [${names.join(', ')}] are not supported; ${POLICIES.available()}`,
    );
  }
  return { kind: 'ROUND_ROBIN' };
}
