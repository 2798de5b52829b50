/** Settings and stats of envoy.filters.http.filter_chain: filters that stand in the place of one. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { HttpFilter } from '../../http-filters.ts';

interface FilterChainOptions {
  /** Absent: requests pass, unless their route has a chain. */
  readonly filters?: readonly HttpFilter[];
}

/** Per route: these in place of the filter's own. */
export interface FilterChainPerRoute {
  readonly chainFilters: readonly HttpFilter[];
}

/** Prefix: `http.<stat_prefix>.filter_chain.` */
export const FILTER_CHAIN = defineTemplate('filter_chain', {
  pass_through: counter('Requests for which there was no chain'),
});

export type FilterChainSettings = FilterResource<'filter_chain', FilterChainOptions>;

export const FILTER_CHAIN_DECLARATION = declareKind<FilterChainSettings>(FILTER_CHAIN);
