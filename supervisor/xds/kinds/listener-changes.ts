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
  const present = allChains(later);
  return allChains(earlier).filter((chain) => !present.some((each) => isSameMessage(each, chain)));
}

/** Whether these routes stand in one of the chains of the same message. */
export function holdsRoutes(chains: readonly JsonObject[], routes: object): boolean {
  return chains.some(({ filters }) =>
    (filters as readonly { readonly typed_config?: JsonObject }[] | undefined)?.some(
      ({ typed_config: settings }) => settings?.['route_config'] === routes,
    ),
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
