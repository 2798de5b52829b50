/**
 * Every load balancing policy, one row each. What holds for a cluster whatever its policy is
 * resolved in load-balancing.ts.
 */
import { typeNameOf } from '../../config/type-name.ts';
import type { LoadBalancingPolicy } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import {
  extension,
  type ExtensionFactory,
  type ExtensionMessage,
  ExtensionRegistry,
} from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { ANY_POLICY, type ChildPolicies, type ChildPolicy, type Policy } from './child-policies.ts';
import { MAGLEV_POLICY, RING_HASH_POLICY } from './hash-balancing.ts';
import { loadAwareLocalityPolicy } from './load-aware-locality.ts';
import { overrideHostPolicy } from './override-host.ts';
import { scriptPolicy } from './script-balancing.ts';
import { WEIGHTED_ROUND_ROBIN_POLICY } from './reported-weights.ts';
import { subsetPolicy } from './subset-balancing.ts';
import { LEAST_REQUEST_POLICY, RANDOM_POLICY, ROUND_ROBIN_POLICY } from './turn-balancing.ts';
import { wrrLocalityPolicy } from './wrr-locality.ts';

/** Policies of the API: such an entry of a list is not passed over for the next one. */
const NOT_HERE: ReadonlySet<string> = new Set(
  ['dynamic_modules.v3.DynamicModulesLoadBalancerConfig', 'pick_first.v3.PickFirst'].map(
    (name) => `envoy.extensions.load_balancing_policies.${name}`,
  ),
);

/** Says nothing that its child does not say with a locality's weights. */
type KindOfChild = 'wrr_locality';

const CHILDREN: ChildPolicies = { resolve: resolveChild, firstKnown };

const ROWS = {
  round_robin: ROUND_ROBIN_POLICY,
  client_side_weighted_round_robin: WEIGHTED_ROUND_ROBIN_POLICY,
  random: RANDOM_POLICY,
  least_request: LEAST_REQUEST_POLICY,
  ring_hash: RING_HASH_POLICY,
  maglev: MAGLEV_POLICY,
  subset: subsetPolicy(CHILDREN),
  override_host: overrideHostPolicy(CHILDREN),
  script: scriptPolicy(CHILDREN),
  wrr_locality: wrrLocalityPolicy(CHILDREN),
  load_aware_locality: loadAwareLocalityPolicy(CHILDREN),
  cluster_provided: extension(
    'envoy.load_balancing_policies.cluster_provided',
    'envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided',
    (): Policy => ({ kind: 'cluster_provided' }),
  ),
} satisfies { readonly [Kind in Policy['kind'] | KindOfChild]: ExtensionFactory<Policy> };

/** Each may resolve to its child, so that no row is of one kind. */
export const POLICIES = new ExtensionRegistry<Policy, ExtensionFactory<Policy>, never>(
  'envoy.load_balancing_policies',
  'load balancing policy',
  {},
  Object.values<ExtensionFactory<Policy>>(ROWS),
);

function firstKnown(
  { policies = [] }: LoadBalancingPolicy = {},
  place: Scope,
): ExtensionMessage | undefined {
  return policies
    .map(({ typed_extension_config: config = {} }) => config)
    .find((config) => POLICIES.knows(config, place));
}

/** A module is joined and left with its cluster, and so stands outermost. */
function resolveChild(message: LoadBalancingPolicy | undefined, place: Scope): ChildPolicy {
  const policy = resolvePolicies(message, place);
  if (policy.kind !== 'script') return policy;
  place.unsupported('a module behind another policy is');
  return ANY_POLICY;
}

/** The first policy that is known counts. */
export function resolvePolicies(
  message: LoadBalancingPolicy | undefined,
  place: Scope,
  cluster = '',
): Policy {
  const policies = message?.policies ?? [];
  const scope = place.at('policies');
  const names = policies.map(({ typed_extension_config: config }) => config?.name ?? '');
  for (const [index, { typed_extension_config: config = {} }] of policies.entries()) {
    const entry = scope.at(index, 'typed_extension_config');
    const isRefused = NOT_HERE.has(typeNameOf(config.typed_config?.['@type'] ?? ''));
    if (!isRefused && !POLICIES.knows(config, entry)) continue;
    const policy = POLICIES.resolve(config, entry);
    return policy ?? ANY_POLICY;
  }
  if (names.length === 0) {
    scope.error(
      'conflict',
      `cluster: didn't find a registered load balancer factory implementation for cluster: '${cluster}' with names from []`,
    );
  } else {
    scope.error(
      'unsupported',
      `load balancing policies [${names.join(', ')}] are not supported`,
      '`sluice features` lists what is served',
    );
  }
  return ANY_POLICY;
}
