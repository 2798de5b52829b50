/**
 * Settings and stats of filters that a tree of matchers decides about: ExtensionWithMatcher lets
 * requests skip a filter, composite runs one of several.
 */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { MatcherTree } from '../../../routes/matcher-tree.ts';
import type { RuntimeFraction } from '../../../routes/matchers.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { HttpFilter } from '../../http-filters.ts';

/** What becomes of a request that matched. */
export type CompositeAction =
  | { readonly kind: 'skip' }
  /** `share`: the part of the requests that pass the filter. */
  | { readonly kind: 'execute'; readonly filter: HttpFilter; readonly share?: RuntimeFraction };

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
}

/** Per route: another tree for the same filter. */
export interface CompositePerRoute {
  readonly matcher?: CompositeMatcher;
}

/** Prefix: `http.<stat_prefix>.composite.` */
export const COMPOSITE = defineTemplate('composite', {
  filter_delegation_success: counter('Requests that were given to a filter'),
  filter_delegation_error: counter(
    'Never counted: filters of a tree are made with the configuration, and none fails for a request',
  ),
});

export type CompositeFilterSettings = FilterResource<'composite', CompositeOptions>;

export const COMPOSITE_DECLARATION = declareKind<CompositeFilterSettings>(COMPOSITE);
