/**
 * Which filter chains of a listener go on when another version of it takes its place. A change of
 * chains alone leaves those that both versions have as they are; any other change concerns all.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FilterChain, ListenerResource } from '../../shared/resources/listener.ts';

/** Says of a chain of the earlier version whether its connections may stay. */
export function survivorsOf(
  earlier: ListenerResource,
  later: ListenerResource,
): (chain: FilterChain) => boolean {
  if (!isDeepStrictEqual(withoutChains(earlier), withoutChains(later))) return () => false;
  const chains = [...later.filterChains, later.defaultFilterChain];
  return (chain) => chains.some((each) => isDeepStrictEqual(each, chain));
}

function withoutChains(resource: ListenerResource): object {
  const { filterChains: _, defaultFilterChain: _default, ...rest } = resource;
  return rest;
}
