/** Resolves envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig. */
import type {
  FilterChain,
  FilterChainConfig,
  FilterChainConfigPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/filter_chain/v3/filter_chain.ts';
import type {
  FilterChainPerRoute,
  FilterChainSettings,
} from '../../../../../shared/resources/filters/http/matching/filter-chain.ts';
import type { HttpFilter } from '../../../../../shared/resources/filters/http-filters.ts';
import type { ExtensionMessage } from '../../../extensions.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

/** Resolves a filter inside of another; the list of all filters knows how. */
type ResolveInner = (message: ExtensionMessage, scope: Scope) => HttpFilter | undefined;

const TYPE = 'envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig';

export function filterChainFilter(resolveInner: ResolveInner) {
  const filtersOf = (chain: FilterChain, scope: Scope): readonly HttpFilter[] => {
    const place = scope.at('filters');
    return (chain.filters ?? []).flatMap((message, at) => {
      const filter = resolveInner(message, place.at(at));
      if (filter?.kind === 'filter_chain') {
        place.at(at).error('conflict', 'FilterChain filter cannot be configured recursively.');
        return [];
      }
      return filter ?? [];
    });
  };
  return httpFilter(
    'envoy.filters.http.filter_chain',
    TYPE,
    ({ default_filter_chain: chain }: FilterChainConfig, scope, name): FilterChainSettings => {
      const filters = chain && filtersOf(chain, scope.at('default_filter_chain'));
      return { kind: 'filter_chain', name, options: optional('filters', filters) };
    },
    perRoute(
      `${TYPE}PerRoute`,
      ({ filter_chain: chain = {} }: FilterChainConfigPerRoute, scope): FilterChainPerRoute => ({
        chainFilters: filtersOf(chain, scope.at('filter_chain')),
      }),
    ),
  );
}
