/** Under which ids the HTTP filters and transport sockets of open listeners wait for a client of `/tap`. */
import type { FilterChain, ListenerResource } from '../../shared/resources/listener.ts';

export function tapConfigIds(listeners: readonly ListenerResource[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { filterChains, defaultFilterChain } of listeners) {
    for (const chain of filterChains) addIds(chain, ids);
    if (defaultFilterChain !== undefined) addIds(defaultFilterChain, ids);
  }
  return ids;
}

function addIds({ networkFilters, taps = [] }: FilterChain, ids: Set<string>): void {
  for (const { source } of taps) if (source.kind === 'admin') ids.add(source.configId);
  for (const filter of networkFilters) {
    if (filter.kind !== 'http_connection_manager') continue;
    for (const one of filter.filters) {
      if (one.kind !== 'tap') continue;
      const { source } = one.options;
      if (source.kind === 'admin') ids.add(source.configId);
    }
  }
}
