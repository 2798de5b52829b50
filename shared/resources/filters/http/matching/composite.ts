/**
 * Settings and stats of filters that a tree of matchers decides about: ExtensionWithMatcher lets
 * requests skip a filter, composite runs others in its place.
 */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { MatcherTree } from '../../../routes/matcher-tree.ts';
import type { RuntimeFraction } from '../../../routes/matchers.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { HttpFilter } from '../../http-filters.ts';

/** What becomes of a request that matched. */
export type CompositeAction = { readonly kind: 'skip' } | ExecuteAction;

export interface ExecuteAction {
  readonly kind: 'execute';
  /** Empty where a chain is named. */
  readonly filters: readonly HttpFilter[];
  /** They were given as a chain, of one or more. */
  readonly isChain: boolean;
  /** One of the filter's own chains, or of none: nothing runs then. */
  readonly chainName?: string;
  /** The part of the requests that pass the filters. */
  readonly share?: RuntimeFraction;
}

export interface NamedChain {
  readonly name: string;
  readonly filters: readonly HttpFilter[];
}

/** How much of the exchange has to be there before the tree is asked. */
export type MatchMoment = 'request' | 'response';

export interface CompositeMatcher {
  readonly tree: MatcherTree<CompositeAction>;
  readonly moment: MatchMoment;
}

interface CompositeOptions {
  /** What requests pass that do not skip it; absent: what an action executes is all. */
  readonly filter?: HttpFilter;
  readonly matcher?: CompositeMatcher;
  /** Chains that actions name. */
  readonly chains?: readonly NamedChain[];
}

/** Per route: another tree for the same filter. */
export interface CompositePerRoute {
  readonly matcher?: CompositeMatcher;
}

/** Prefix: `http.<stat_prefix>.composite.` */
export const COMPOSITE = defineTemplate('composite', {
  filter_delegation_success: counter('Requests that were given to a filter or a chain of them'),
  filter_delegation_error: counter(
    'Requests whose filter was not run: it is several, and was not given as a chain',
  ),
});

export type CompositeFilterSettings = FilterResource<'composite', CompositeOptions>;

export const COMPOSITE_DECLARATION = declareKind<CompositeFilterSettings>(COMPOSITE);
