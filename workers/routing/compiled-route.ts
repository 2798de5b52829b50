/** One route, compiled: whether it fits a request, and what it resolves to. */
import type {
  ClusterRouteAction,
  Route,
  RouteAction,
} from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileDirectResponseRoute, compileRedirectRoute } from './answered-route.ts';
import { compileClusterRoute } from './cluster-route.ts';
import { compilePathMatcher, isConnectUdp } from './path-matcher.ts';
import { compileConditions } from './route-conditions.ts';
import type { RouteContext } from './route-context.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { VirtualClusterOf } from './virtual-clusters.ts';
import { compileWhenAsked } from './when-asked.ts';

export interface CompiledRoute {
  readonly resource: Route;
  /** Every path that this route matches begins with it. */
  readonly literalPrefix: string;
  /** Whether the path alone fits; as of `matches`. */
  matchesPath(headers: HeaderMap, path: string): boolean;
  /** `path` is the request's path without query; empty for a CONNECT. */
  matches(headers: HeaderMap, path: string, info: StreamInfo): boolean;
  /** Undefined: the route fits and leads nowhere; the request is answered as not found. */
  resolve(headers: HeaderMap, info: StreamInfo): ResolvedRoute | undefined;
}

export function compileRoute(
  route: Route,
  context: RouteContext,
  virtualClusterOf: VirtualClusterOf,
): CompiledRoute {
  const { match } = route;
  const path = compilePathMatcher(match.path, match.caseSensitive);
  const conditions = compileConditions(route.match, context.runtime);
  const matchesPath = path.isConnect
    ? (headers: HeaderMap) => headers.method === 'CONNECT' || isConnectUdp(headers)
    : (_: HeaderMap, text: string) => text !== '' && path.matches(text);
  return {
    resource: route,
    literalPrefix: path.literalPrefix,
    matchesPath,
    matches:
      conditions === undefined
        ? matchesPath
        : (headers, text, info) => matchesPath(headers, text) && conditions(headers, info),
    resolve: compileWhenAsked(context.virtualHost.routes.length, () =>
      compileAction(route, route.action, context, virtualClusterOf),
    ),
  };
}

/** A route for filters that answer by themselves: where none does, its cluster is not found. */
const NOWHERE: ClusterRouteAction = {
  kind: 'cluster',
  cluster: { kind: 'cluster', name: '' },
  clusterNotFoundStatus: 503,
  appendXForwardedHost: false,
  timeoutMs: 0,
  priority: 'DEFAULT',
  hashPolicies: [],
  mirrorPolicies: [],
  upgrades: [],
  includeVirtualHostRateLimits: false,
};

function compileAction(
  route: Route,
  action: RouteAction,
  context: RouteContext,
  virtualClusterOf: VirtualClusterOf,
): CompiledRoute['resolve'] {
  switch (action.kind) {
    case 'cluster':
      return compileClusterRoute(route, action, context, virtualClusterOf);
    case 'redirect': {
      const redirect = compileRedirectRoute(route, action, context);
      return () => redirect;
    }
    case 'direct_response': {
      const response = compileDirectResponseRoute(route, action, context);
      return () => response;
    }
    case 'none':
      return compileClusterRoute(route, NOWHERE, context, virtualClusterOf);
  }
}
