/**
 * Filters that stand in the place of one: those of the route, else the default. Source:
 * envoy.filters.http.filter_chain.
 */
import {
  FILTER_CHAIN,
  type FilterChainPerRoute,
  type FilterChainSettings,
} from '../../../../shared/resources/filters/http/matching/filter-chain.ts';
import type { HttpFilter as FilterSettings } from '../../../../shared/resources/filters/http-filters.ts';
import type { FilterFactory } from '../../../stream/filter.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

const NONE: readonly FilterFactory[] = [];

/** `make` makes the factory of settings as those of any filter. */
export function makeFilterChainFilter(
  { name, options: { filters } }: FilterChainSettings,
  context: FilterContext,
  make: (filter: FilterSettings, context: FilterContext) => FilterFactory,
): FilterFactory {
  const { stats } = context;
  const base = stats.defineBlock(FILTER_CHAIN, `${context.statPrefix}filter_chain.`);
  context.onBlock(base);
  const compiled = new CompiledSettings((settings: readonly FilterSettings[]) =>
    settings.map((inner) => make(inner, context)),
  );
  const own = filters && compiled.of(filters);
  return {
    name,
    // The chain of a stream has its filters, never this one.
    create: () => new PassThroughFilter(),
    width: own?.reduce((sum, { width = 1 }) => sum + width, 0) ?? 0,
    filtersFor(route) {
      const ofRoute = route?.filterSettings.perFilterConfig.get(name);
      const chain = isPerRoute(ofRoute) ? compiled.of(ofRoute.chainFilters) : own;
      if (chain === undefined) {
        stats.increment(base + FILTER_CHAIN.index.pass_through);
        return NONE;
      }
      // Chains are not nested: of these only a composite stands for several.
      return chain.flatMap((factory) => factory.filtersFor?.(route) ?? [factory]);
    },
  };
}

function isPerRoute(settings: unknown): settings is FilterChainPerRoute {
  return typeof settings === 'object' && settings !== null && 'chainFilters' in settings;
}
