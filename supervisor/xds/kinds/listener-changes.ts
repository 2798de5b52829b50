/** What a new version of a listener changes: only filter chains, or more. */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { isSameMessage } from './same-message.ts';

/** Only chains differ, and there are some: the others go on as they are. */
export function changesOnlyChains(earlier: JsonObject, later: JsonObject): boolean {
  if (chainsOf(later).length === 0) return false;
  return isSameMessage(withoutChains(earlier), withoutChains(later));
}

/** The chains of the earlier version that the later one does not have. */
export function goneChains(earlier: JsonObject, later: JsonObject): readonly JsonObject[] {
  const present = new Map<string, JsonObject[]>();
  for (const chain of allChains(later)) {
    const key = matchOf(chain);
    const known = present.get(key);
    if (known === undefined) present.set(key, [chain]);
    else known.push(chain);
  }
  return allChains(earlier).filter(
    (chain) => !present.get(matchOf(chain))?.some((each) => isSameMessage(each, chain)),
  );
}

/** Says of routes whether they stand in one of the chains of the same message. */
export function routesHolder(chains: readonly JsonObject[]): (routes: object) => boolean {
  const held = new Set<unknown>();
  for (const { filters = [] } of chains) {
    for (const { typed_config: settings } of filters as readonly JsonObject[]) {
      held.add((settings as JsonObject | undefined)?.['route_config']);
    }
  }
  return (routes) => held.has(routes);
}

/** Chains of a listener differ in it, or in their names where it has a matcher. */
function matchOf({ name, filter_chain_match: match }: JsonObject): string {
  return JSON.stringify([name, match], (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
      : value,
  );
}

function withoutChains(message: JsonObject): JsonObject {
  const { filter_chains: _, default_filter_chain: _default, ...rest } = message;
  return rest;
}

function allChains(message: JsonObject): readonly JsonObject[] {
  const { default_filter_chain: last } = message;
  return [...chainsOf(message), ...(last === undefined ? [] : [last])] as JsonObject[];
}

function chainsOf({ filter_chains: chains }: JsonObject): readonly JsonValue[] {
  return Array.isArray(chains) ? (chains as readonly JsonValue[]) : [];
}
