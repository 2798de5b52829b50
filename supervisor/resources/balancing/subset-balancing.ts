/** Resolves which hosts a request's metadata asks for. */
import { structOf } from '../../../shared/text/dictionary.ts';
import type {
  Cluster_LbSubsetConfig as SubsetConfig,
  Cluster_LbSubsetConfig_LbSubsetSelector as SelectorMessage,
} from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { Subset } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/subset/v3/subset.ts';
import type { NestedPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import type {
  SubsetOptions,
  SubsetSelector,
} from '../../../shared/resources/clusters/subset-policy.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import type { ChildPolicies, Policy } from './child-policies.ts';

const FIELDS = knownFields<Subset>([
  'fallback_policy',
  'default_subset',
  'subset_selectors',
  'allow_redundant_keys',
  'locality_weight_aware',
  'scale_locality_weight',
  'panic_mode_any',
  'list_as_any',
  'metadata_fallback_policy',
  'subset_lb_policy',
]);
const SELECTOR_FIELDS = knownFields<SelectorMessage>([
  'keys',
  'single_host_per_subset',
  'fallback_policy',
  'fallback_keys_subset',
]);

export function subsetPolicy(children: ChildPolicies): ExtensionFactory<Policy> {
  return extension(
    'envoy.load_balancing_policies.subset',
    'envoy.extensions.load_balancing_policies.subset.v3.Subset',
    (message: Subset, scope): Policy => {
      const place = scope.at('subset_lb_policy');
      const child = children.resolve(message.subset_lb_policy, place);
      if (child.kind !== 'cluster_provided') return withSubsets(child, message, scope);
      place.unsupported('cluster_provided within subsets is');
      return child;
    },
  );
}

/** Without a selector there are no subsets. */
export function withSubsets(
  child: NestedPolicy,
  config: SubsetConfig | Subset | undefined,
  scope: Scope,
): NestedPolicy {
  const options = resolveSubsets(config, scope);
  return options === undefined ? child : { kind: 'subset', options, child };
}

function resolveSubsets(
  config: SubsetConfig | Subset | undefined,
  scope: Scope,
): SubsetOptions | undefined {
  if (config === undefined) return undefined;
  refuseOtherFields(config, FIELDS, scope);
  const selectors = (config.subset_selectors ?? []).map((message, index) =>
    resolveSelector(message, scope.at('subset_selectors', index)),
  );
  if (selectors.length === 0) return undefined;
  const { fallback_policy: fallback } = config;
  return {
    fallback:
      fallback === 'ANY_ENDPOINT' || fallback === 'DEFAULT_SUBSET' ? fallback : 'NO_FALLBACK',
    defaultSubset: structOf(config.default_subset ?? {}),
    selectors,
    allowsRedundantKeys: 'allow_redundant_keys' in config && config.allow_redundant_keys === true,
    weighsLocalities: config.locality_weight_aware === true,
    scalesLocalityWeight: config.scale_locality_weight === true,
    panicsToAny: config.panic_mode_any === true,
    listsAsAny: config.list_as_any === true,
    triesFallbackList: config.metadata_fallback_policy === 'FALLBACK_LIST',
  };
}

function resolveSelector(message: SelectorMessage, scope: Scope): SubsetSelector {
  refuseOtherFields(message, SELECTOR_FIELDS, scope);
  const keys = [...new Set(message.keys)].sort();
  const fallbackKeys = [...new Set(message.fallback_keys_subset)].sort();
  const fallback = readFallback(message.fallback_policy);
  if (fallback === 'KEYS_SUBSET') checkFallbackKeys(keys, fallbackKeys, scope);
  else if (fallbackKeys.length > 0) {
    scope.error('conflict', 'fallback_keys_subset can be set only for KEYS_SUBSET fallback_policy');
  }
  const isSingleHost = message.single_host_per_subset === true;
  return { keys, isSingleHost, fallbackKeys, ...(fallback === undefined ? {} : { fallback }) };
}

function readFallback(policy: SelectorMessage['fallback_policy']): SubsetSelector['fallback'] {
  switch (policy) {
    case 'NO_FALLBACK':
    case 'ANY_ENDPOINT':
    case 'DEFAULT_SUBSET':
    case 'KEYS_SUBSET':
      return policy;
    default:
      return undefined;
  }
}

function checkFallbackKeys(
  keys: readonly string[],
  fallbackKeys: readonly string[],
  scope: Scope,
): void {
  if (fallbackKeys.length === 0) {
    scope.error('conflict', 'fallback_keys_subset cannot be empty');
  } else if (!fallbackKeys.every((key) => keys.includes(key))) {
    scope.error('conflict', 'fallback_keys_subset must be a subset of selector keys');
  } else if (fallbackKeys.length === keys.length) {
    scope.error('conflict', 'fallback_keys_subset cannot be equal to keys');
  }
}
