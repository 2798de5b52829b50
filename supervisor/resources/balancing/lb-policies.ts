/**
 * Resolves the policies of `load_balancing_policy`, each an extension that may hold others. What
 * holds for a cluster whatever its policy is resolved in load-balancing.ts.
 */
import { typeNameOf } from '../../config/type-name.ts';
import type { LoadBalancingPolicy } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { LoadAwareLocality } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/load_aware_locality/v3/load_aware_locality.ts';
import type {
  OverrideHost,
  OverrideHost_OverrideHostSource,
} from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/override_host/v3/override_host.ts';
import type { Subset } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/subset/v3/subset.ts';
import type { WrrLocality } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/wrr_locality/v3/wrr_locality.ts';
import type { HostNamer, LbPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import { extension, type ExtensionMessage, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadataKey } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveMaglev, resolveRingHash } from './hash-balancing.ts';
import { resolveLocalityLoads } from './load-aware-locality.ts';
import { resolveReportedWeights } from './reported-weights.ts';
import { resolveSubsets } from './subset-balancing.ts';
import { leastRequest, random, roundRobin } from './turn-balancing.ts';

/** What a policy adds to what holds for all of them. */
export type Policy = Omit<LbPolicy, 'healthyPanicThreshold'>;

/** Of the API: such an entry of a list is not passed over for the next one. */
const NOT_HERE: ReadonlySet<string> = new Set(
  ['dynamic_modules.v3.DynamicModulesLoadBalancerConfig', 'pick_first.v3.PickFirst'].map(
    (name) => `envoy.extensions.load_balancing_policies.${name}`,
  ),
);

const OVERRIDE_FIELDS = knownFields<OverrideHost>([
  'override_host_sources',
  'fallback_policy',
  'selected_host_key',
]);
const OVERRIDE_SOURCE_FIELDS = knownFields<OverrideHost_OverrideHostSource>(['header', 'metadata']);
const WRR_LOCALITY_FIELDS = knownFields<WrrLocality>(['endpoint_picking_policy']);

const LOAD_AWARE_TYPE =
  'envoy.extensions.load_balancing_policies.load_aware_locality.v3.LoadAwareLocality';

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
    extension(
      'envoy.load_balancing_policies.wrr_locality',
      'envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality',
      wrrLocality,
    ),
    extension(
      'envoy.load_balancing_policies.load_aware_locality',
      LOAD_AWARE_TYPE,
      loadAwareLocality,
    ),
    extension(
      'envoy.load_balancing_policies.cluster_provided',
      'envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided',
      (): Policy => ({ kind: 'CLUSTER_PROVIDED' }),
    ),
  ],
);

function subset(message: Subset, scope: Scope): Policy {
  const policy = resolvePolicies(message.subset_lb_policy, scope.at('subset_lb_policy'));
  if (policy.kind === 'CLUSTER_PROVIDED') {
    scope.at('subset_lb_policy').unsupported('cluster_provided within subsets is');
  }
  return { ...policy, ...optional('subsets', resolveSubsets(message, scope)) };
}

function overrideHost(message: OverrideHost, scope: Scope): Policy {
  refuseOtherFields(message, OVERRIDE_FIELDS, scope);
  const sources = (message.override_host_sources ?? []).map((source, index) =>
    resolveSource(source, scope.at('override_host_sources', index)),
  );
  const place = scope.at('fallback_policy');
  const policy = resolvePolicies(message.fallback_policy, place);
  if (policy.kind === 'CLUSTER_PROVIDED') place.unsupported('cluster_provided behind it is');
  const { selected_host_key: key } = message;
  return {
    ...policy,
    override: {
      sources: sources.filter((source) => source !== undefined),
      ...(key === undefined ? {} : { tells: resolveMetadataKey(key) }),
    },
  };
}

function resolveSource(
  message: OverrideHost_OverrideHostSource,
  scope: Scope,
): HostNamer | undefined {
  refuseOtherFields(message, OVERRIDE_SOURCE_FIELDS, scope);
  const { header = '', metadata } = message;
  if (metadata !== undefined && header !== '') {
    scope.error('conflict', 'Only one override source must be set');
  } else if (metadata === undefined && header === '') {
    scope.error('conflict', 'Empty override source');
  } else if (metadata === undefined) {
    return { kind: 'header', name: header.toLowerCase() };
  } else {
    return { kind: 'metadata', ...resolveMetadataKey(metadata) };
  }
  return undefined;
}

/** Policies that hash have tables over all localities: what is chosen here is nothing to them. */
function loadAwareLocality(message: LoadAwareLocality, scope: Scope): Policy {
  const localityLoads = resolveLocalityLoads(message, scope);
  const place = scope.at('endpoint_picking_policy');
  const first = firstKnown(message.endpoint_picking_policy, place);
  if (first === undefined) {
    place.error('conflict', 'No supported endpoint picking policy.');
    return { kind: 'ROUND_ROBIN' };
  }
  if (typeNameOf(first.typed_config?.['@type'] ?? '') === LOAD_AWARE_TYPE) {
    place.error('conflict', 'load_aware_locality cannot be its own endpoint_picking_policy');
    return { kind: 'ROUND_ROBIN' };
  }
  const {
    weighsLocalities: _,
    zoneAware: __,
    ...policy
  } = resolvePolicies(message.endpoint_picking_policy, place);
  if (policy.kind === 'CLUSTER_PROVIDED') {
    place.error(
      'conflict',
      `Unsupported endpoint picking policy for load_aware_locality: ${first.name ?? ''}. Child load balancer could not be instantiated per locality.`,
    );
  }
  if (policy.subsets !== undefined) place.unsupported('a policy of subsets within localities is');
  const hashes = policy.kind === 'RING_HASH' || policy.kind === 'MAGLEV';
  return hashes ? policy : { ...policy, localityLoads };
}

function firstKnown(
  { policies = [] }: LoadBalancingPolicy = {},
  place: Scope,
): ExtensionMessage | undefined {
  return policies
    .map(({ typed_extension_config: config = {} }) => config)
    .find((config) => POLICIES.knows(config, place));
}

/** Weights of localities go together with one policy alone, as in Envoy. */
function wrrLocality(message: WrrLocality, scope: Scope): Policy {
  refuseOtherFields(message, WRR_LOCALITY_FIELDS, scope);
  const place = scope.at('endpoint_picking_policy');
  if (firstKnown(message.endpoint_picking_policy, place) === undefined) {
    place.error('conflict', 'No supported endpoint picking policy.');
    return { kind: 'ROUND_ROBIN' };
  }
  const policy = resolvePolicies(message.endpoint_picking_policy, place);
  if (policy.loadReports === undefined || policy.weighsLocalities === true) {
    place.error(
      'conflict',
      'Currently WrrLocalityLoadBalancer only supports ClientSideWeightedRoundRobinLoadBalancer as its endpoint picking policy.',
    );
  }
  return { ...policy, weighsLocalities: true };
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
      `load balancing policies [${names.join(', ')}] are not supported`,
      '`sluice features` lists what is served',
    );
  }
  return { kind: 'ROUND_ROBIN' };
}
