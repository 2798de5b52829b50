/** Which of a connection manager's filters take part in a request, as its route says. */
import type { ResolvedRoute } from '../stream/route.ts';
import type { FilterFactory } from '../stream/filter.ts';

export function activeFilters(
  filters: readonly FilterFactory[],
  route: ResolvedRoute | undefined,
): readonly FilterFactory[] {
  const config = route?.filterSettings.perFilterConfig;
  return filters.filter((filter) => takesPart(filter, config?.get(filter.name)));
}

/** A route may say of each filter that it does, or does not, see its requests. */
function takesPart({ isOffByDefault }: FilterFactory, config: unknown): boolean {
  if (isOffByDefault === true && config === undefined) return false;
  return !(typeof config === 'object' && config !== null && 'disabled' in config);
}
