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
  let chains: ReadonlyMap<string, readonly FilterChain[]> | undefined;
  return (chain) => {
    chains ??= byMatch([...later.filterChains, later.defaultFilterChain]);
    return (chains.get(matchOf(chain)) ?? []).some((each) => isDeepStrictEqual(each, chain));
  };
}

/** So that a chain is compared with those alone that could be the same one. */
function byMatch(
  chains: readonly (FilterChain | undefined)[],
): ReadonlyMap<string, readonly FilterChain[]> {
  const found = new Map<string, FilterChain[]>();
  for (const chain of chains) {
    if (chain === undefined) continue;
    const key = matchOf(chain);
    const known = found.get(key);
    if (known === undefined) found.set(key, [chain]);
    else known.push(chain);
  }
  return found;
}

/** Chains of a listener differ in it, or in their names where it has a matcher. */
function matchOf({ name, match }: FilterChain): string {
  return JSON.stringify([name, match]);
}

function withoutChains(resource: ListenerResource): object {
  const { filterChains: _, defaultFilterChain: _default, ...rest } = resource;
  return rest;
}
