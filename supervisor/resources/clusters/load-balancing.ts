/** Resolves how a cluster's hosts are chosen: `load_balancing_policy`, or the older `lb_policy`. */
import type {
  Cluster,
  Cluster_CommonLbConfig as CommonLbConfig,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { LeastRequest } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/least_request/v3/least_request.ts';
import type { Random } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/random/v3/random.ts';
import type {
  ConsistentHashingLbConfig,
  LocalityLbConfig,
} from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/common/v3/common.ts';
import type { LbPolicy } from '../../../shared/resources/cluster.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float } from '../values.ts';
import { resolveMaglev, resolveRingHash } from './hash-balancing.ts';

/** What a policy adds to what holds for all of them. */
type Policy = Pick<LbPolicy, 'kind' | 'leastRequest' | 'ringHash' | 'maglev' | 'weighsLocalities'>;

const PLAIN_FIELDS = knownFields<Random>(['locality_lb_config']);
const LEAST_REQUEST_FIELDS = knownFields<LeastRequest>([
  'choice_count',
  'active_request_bias',
  'locality_lb_config',
]);
/** Zones are preferred by clusters that know their own, which the cluster manager warns of. */
const LOCALITY_FIELDS = knownFields<LocalityLbConfig>(
  ['locality_weighted_lb_config'],
  ['zone_aware_lb_config'],
);

const plain =
  (kind: 'ROUND_ROBIN' | 'RANDOM') =>
  (message: Random, scope: Scope): Policy => {
    refuseOtherFields(message, PLAIN_FIELDS, scope);
    refuseOtherFields(
      message.locality_lb_config ?? {},
      LOCALITY_FIELDS,
      scope.at('locality_lb_config'),
    );
    return { kind, ...weighing(message.locality_lb_config) };
  };

export const POLICIES = new ExtensionRegistry<Policy>(
  'envoy.load_balancing_policies',
  'load balancing policy',
  [
    extension(
      'envoy.load_balancing_policies.round_robin',
      'envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin',
      plain('ROUND_ROBIN'),
    ),
    extension(
      'envoy.load_balancing_policies.random',
      'envoy.extensions.load_balancing_policies.random.v3.Random',
      plain('RANDOM'),
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
  ],
);

function leastRequest(message: LeastRequest, scope: Scope): Policy {
  refuseOtherFields(message, LEAST_REQUEST_FIELDS, scope);
  refuseOtherFields(
    message.locality_lb_config ?? {},
    LOCALITY_FIELDS,
    scope.at('locality_lb_config'),
  );
  const { choice_count: choiceCount = 2, active_request_bias: bias } = message;
  const activeRequestBias = bias === undefined ? 1 : float(bias.default_value ?? 0);
  return {
    kind: 'LEAST_REQUEST',
    leastRequest: { choiceCount, activeRequestBias },
    ...weighing(message.locality_lb_config),
  };
}

function weighing(config: LocalityLbConfig | undefined): Pick<Policy, 'weighsLocalities'> {
  return config?.locality_weighted_lb_config === undefined ? {} : { weighsLocalities: true };
}

const COMMON_FIELDS = knownFields<CommonLbConfig>(
  ['healthy_panic_threshold', 'ignore_new_hosts_until_first_hc', 'locality_weighted_lb_config'],
  [
    // Without a local cluster there is no zone to prefer; hosts of static clusters do not change;
    // the rest is of balancers that hash or follow a host named by a filter.
    'zone_aware_lb_config',
    'update_merge_window',
    'consistent_hashing_lb_config',
    'override_host_status',
  ],
);

const PANIC_THRESHOLD_PERCENT = 50;

export function resolveLbPolicy(message: Cluster, scope: Scope): LbPolicy {
  const common = message.common_lb_config ?? {};
  refuseOtherFields(common, COMMON_FIELDS, scope.at('common_lb_config'));
  if (message.round_robin_lb_config?.slow_start_config !== undefined) {
    scope.at('round_robin_lb_config', 'slow_start_config').unsupported('slow start is');
  }
  const { healthy_panic_threshold: threshold, locality_weighted_lb_config: weighted } = common;
  const policy = resolvePolicy(message, scope);
  if (weighted !== undefined && (policy.kind === 'RING_HASH' || policy.kind === 'MAGLEV')) {
    scope
      .at('common_lb_config', 'locality_weighted_lb_config')
      .unsupported('weighing localities where hosts are chosen by a hash is');
  }
  return {
    ...policy,
    ...(weighted === undefined ? {} : { weighsLocalities: true }),
    healthyPanicThreshold:
      threshold === undefined ? PANIC_THRESHOLD_PERCENT : float(threshold.value ?? 0),
  };
}

function resolvePolicy(message: Cluster, scope: Scope): Policy {
  if (message.load_balancing_policy !== undefined) {
    return resolvePolicies(message, scope.at('load_balancing_policy', 'policies'));
  }
  const { lb_policy: policy = 'ROUND_ROBIN', name = '' } = message;
  const place = scope.at('lb_policy');
  switch (policy) {
    case 'ROUND_ROBIN':
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
function resolvePolicies(message: Cluster, scope: Scope): Policy {
  const policies = message.load_balancing_policy?.policies ?? [];
  const names = policies.map(({ typed_extension_config: config }) => config?.name ?? '');
  for (const [index, { typed_extension_config: config = {} }] of policies.entries()) {
    const place = scope.at(index, 'typed_extension_config');
    if (!POLICIES.knows(config, place)) continue;
    const policy = POLICIES.resolve(config, place);
    return policy ?? { kind: 'ROUND_ROBIN' };
  }
  if (names.length === 0) {
    const name = message.name ?? '';
    scope.error(
      'conflict',
      `cluster: didn't find a registered load balancer factory implementation for cluster: '${name}' with names from []`,
    );
  } else {
    scope.error(
      'unsupported',
      `load balancing policies [${names.join(', ')}] are not supported; ${POLICIES.available()}`,
    );
  }
  return { kind: 'ROUND_ROBIN' };
}
