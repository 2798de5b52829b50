/** Which of a chain's filters take part in a request, as its route says. */
import type { ResolvedRoute } from '../stream/route.ts';
import type { FilterFactory } from '../stream/filter.ts';

export function activeFilters(
  filters: readonly FilterFactory[],
  route: ResolvedRoute | undefined,
): readonly FilterFactory[] {
  const switches = route?.filterSettings.switches;
  return filters.filter(
    ({ name, isOffByDefault }) => switches?.get(name) ?? isOffByDefault !== true,
  );
}

/** The filters of one stream's chain: those that take part, and in place of some what they stand for. */
export function filtersOfStream(
  filters: readonly FilterFactory[],
  route: ResolvedRoute | undefined,
): readonly FilterFactory[] {
  const active = activeFilters(filters, route);
  if (!active.some((factory) => factory.filtersFor !== undefined)) return active;
  return active.flatMap((factory) => factory.filtersFor?.(route) ?? [factory]);
}
