import { type StringMatcher } from '../../../../shared/resources/routes/matchers.ts';
import {
  type PathMatch,
  type Route,
  type RouteMatch,
} from '../../../../shared/resources/routes/route.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import { direct, route, routeConfiguration, virtualHost } from '../../../support/parts/routes.ts';
import { requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

/** The route that a request gets among several. */

/** The name of the route that a request gets, undefined when it gets none. */
export function chosen(
  routes: readonly Route[],
  path: string,
  headers: readonly (readonly [string, string])[] = [],
): string | undefined {
  const table = buildRouteTable(routeConfiguration([virtualHost(routes)]));
  const map = requestHeaders(path, headers);
  return table.match(map, streamInfo(map))?.routeName;
}

export function named(name: string, path: PathMatch, match: Partial<RouteMatch> = {}): Route {
  return route(path, direct(), { name, match });
}

export function text(
  kind: 'exact' | 'prefix' | 'suffix' | 'contains',
  value: string,
  ignoreCase = false,
): StringMatcher {
  return { kind, value, ignoreCase };
}
