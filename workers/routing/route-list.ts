/**
 * The routes of one virtual host: the first in order that fits wins. Long lists are indexed by what
 * every matching path begins with, so that a request looks only at routes that can match its path.
 */
import { ITEMS_PER_STEP, type Steps } from '../loop/sliced-work.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { CompiledRoute } from './compiled-route.ts';

/** Up to this many routes are simply tried one by one. */
const SHORT_LIST = 12;

/** The first route that fits; `path` is the request's path without query. */
export type RouteFinder = (
  headers: HeaderMap,
  path: string,
  info: StreamInfo,
) => CompiledRoute | undefined;

export function* routeFinderSteps(routes: readonly CompiledRoute[]): Steps<RouteFinder> {
  return routes.length <= SHORT_LIST ? tryEach(routes) : yield* tryIndexed(routes);
}

function tryEach(routes: readonly CompiledRoute[]): RouteFinder {
  return (headers, path, info) => {
    for (const route of routes) if (route.matches(headers, path, info)) return route;
    return undefined;
  };
}

interface Indexed {
  readonly position: number;
  readonly route: CompiledRoute;
}

/** One map per length of literal prefix, each from the prefix to its routes in order. */
function* tryIndexed(routes: readonly CompiledRoute[]): Steps<RouteFinder> {
  const byLength = new Map<number, Map<string, Indexed[]>>();
  for (const [position, route] of routes.entries()) {
    const prefix = route.literalPrefix;
    const group = byLength.get(prefix.length) ?? new Map<string, Indexed[]>();
    byLength.set(prefix.length, group);
    const list = group.get(prefix) ?? [];
    group.set(prefix, list);
    list.push({ position, route });
    if ((position + 1) % ITEMS_PER_STEP === 0) yield;
  }
  const groups = [...byLength].map(([length, lists]) => ({ length, lists }));
  return (headers, path, info) => {
    let best: CompiledRoute | undefined;
    let bestPosition = routes.length;
    for (const { length, lists } of groups) {
      if (length > path.length) continue;
      const list = lists.get(path.slice(0, length));
      if (list === undefined) continue;
      for (const { position, route } of list) {
        if (position >= bestPosition) break;
        if (!route.matches(headers, path, info)) continue;
        best = route;
        bestPosition = position;
        break;
      }
    }
    return best;
  };
}
