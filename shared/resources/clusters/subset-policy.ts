/** The subsets of a cluster's hosts, as workers receive them. Source: envoy.extensions.load_balancing_policies.subset.v3. */
import type { Struct } from '../../text/dictionary.ts';

export interface SubsetOptions {
  readonly fallback: 'NO_FALLBACK' | 'ANY_ENDPOINT' | 'DEFAULT_SUBSET';
  /** What the hosts of the default subset have in their `envoy.lb` metadata. */
  readonly defaultSubset: Struct;
  readonly selectors: readonly SubsetSelector[];
  /** A request may name more keys than a selector has. */
  readonly allowsRedundantKeys: boolean;
  readonly weighsLocalities: boolean;
  /** A locality counts as much as the share of its hosts that are in the subset. */
  readonly scalesLocalityWeight: boolean;
  /** Where the fallback finds no host, any host is taken. */
  readonly panicsToAny: boolean;
  /** A host with a list is in the subset of each of its values. */
  readonly listsAsAny: boolean;
  /** `fallback_list` in a request's metadata names what to try one after the other. */
  readonly triesFallbackList: boolean;
}

export interface SubsetSelector {
  /** Sorted, without repetitions. */
  readonly keys: readonly string[];
  readonly isSingleHost: boolean;
  /** Undefined: that of the cluster. */
  readonly fallback?: 'NO_FALLBACK' | 'ANY_ENDPOINT' | 'DEFAULT_SUBSET' | 'KEYS_SUBSET';
  readonly fallbackKeys: readonly string[];
}
