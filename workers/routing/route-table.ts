/**
 * The route table of one route configuration. Everything is compiled here, once; matching a request
 * then allocates nothing but, where a cluster's name stands in a header, one route.
 */
import type {
  Route,
  RouteConfigurationResource,
  VirtualHost,
} from '../../shared/resources/routes/route.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { compileMatcherTree, type TreeMatcher } from '../matching/matcher-tree.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { WorkerRuntime } from '../loop/runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileTlsRedirect } from './answered-route.ts';
import { compileRoute } from './compiled-route.ts';
import { DomainIndex } from './domain-index.ts';
import { makeRouteFinder, type RouteFinder } from './route-list.ts';
import type { ResolvedRoute, RouteTable } from '../stream/route.ts';
import { compileVirtualClusters } from './virtual-clusters.ts';
import { compileWhenAsked } from './when-asked.ts';

/** Throws when a resource could not have passed the supervisor's checks. */
export function buildRouteTable(
  table: RouteConfigurationResource,
  runtime: Runtime = new WorkerRuntime(),
): RouteTable {
  const hosts = new DomainIndex<HostMatcher>(table.ignorePortInHostMatching);
  for (const virtualHost of table.virtualHosts) {
    const matcher = compileWhenAsked(table.virtualHosts.length, () =>
      compileVirtualHost(virtualHost, table, runtime),
    );
    for (const domain of virtualHost.domains) hosts.add(domain, matcher);
  }
  return {
    name: table.name,
    internalOnlyHeaders: table.internalOnlyHeaders,
    isOnDemand: table.isOnDemand === true,
    hasHost: (headers) => hosts.find(headers.authority) !== undefined,
    match(headers, info) {
      // As in Envoy: a client that says it came by no protocol gets no route.
      if (headers.get('x-forwarded-proto') === '') return undefined;
      return hosts.find(headers.authority)?.(headers, info);
    },
  };
}

type HostMatcher = (headers: HeaderMap, info: StreamInfo) => ResolvedRoute | undefined;

function compileVirtualHost(
  virtualHost: VirtualHost,
  table: RouteConfigurationResource,
  runtime: Runtime,
): HostMatcher {
  const context = { table, virtualHost, runtime };
  const virtualClusterOf = compileVirtualClusters(virtualHost);
  const compileRoutes = (routes: readonly Route[]): RouteFinder =>
    makeRouteFinder(routes.map((route) => compileRoute(route, context, virtualClusterOf)));
  const find =
    virtualHost.matcher === undefined
      ? compileRoutes(virtualHost.routes)
      : findInTree(compileMatcherTree(virtualHost.matcher, compileRoutes, runtime));
  const match: HostMatcher = (headers, info) => {
    const { path } = headers;
    const mark = path.indexOf('?');
    return find(headers, mark < 0 ? path : path.slice(0, mark), info)?.resolve(headers, info);
  };
  const { requireTls } = virtualHost;
  if (requireTls === 'NONE') return match;
  const redirect = compileTlsRedirect(virtualHost);
  return (headers, info) => {
    const isPlain = headers.get('x-forwarded-proto') !== 'https';
    const isMeant = requireTls === 'ALL' || !info.isInternalRequest;
    return isPlain && isMeant ? redirect : match(headers, info);
  };
}

/** The routes that the tree leads to are tried in order. */
function findInTree(match: TreeMatcher<RouteFinder>): RouteFinder {
  return (headers, path, info) => match(headers, info)?.(headers, path, info);
}
