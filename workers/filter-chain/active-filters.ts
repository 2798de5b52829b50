/** Which of a chain's filters take part in a request, as its route says. */
import type { ResolvedRoute } from '../stream/route.ts';
import type { FilterFactory } from '../stream/filter.ts';

export function activeFilters(
  filters: readonly FilterFactory[],
  route: ResolvedRoute | undefined,
): readonly FilterFactory[] {
  const switches = route?.filterSettings.switches;
  // Most routes switch nothing, and nothing is made for their requests.
  if ((switches === undefined || switches.size === 0) && filters.every(isOn)) return filters;
  return filters.filter(
    ({ name, isOffByDefault }) => switches?.get(name) ?? isOffByDefault !== true,
  );
}

function isOn({ isOffByDefault }: FilterFactory): boolean {
  return isOffByDefault !== true;
}

/** The filters of one stream's chain: those that take part, and in place of some what they stand for. */
export function filtersOfStream(
  filters: readonly FilterFactory[],
  route: ResolvedRoute | undefined,
): readonly FilterFactory[] {
  const active = activeFilters(filters, route);
  if (!active.some((factory) => factory.filtersFor !== undefined)) return active;
  const [only] = active;
  if (active.length === 1 && only?.filtersFor !== undefined) return only.filtersFor(route);
  return active.flatMap((factory) => factory.filtersFor?.(route) ?? [factory]);
}
