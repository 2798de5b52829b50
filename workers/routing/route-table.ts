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
import { finish, type Steps } from '../loop/sliced-work.ts';
import { WorkerRuntime } from '../loop/runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileTlsRedirect } from './answered-route.ts';
import { compileRoute, type CompiledRoute } from './compiled-route.ts';
import { DomainIndex } from './domain-index.ts';
import { tryRoutes } from './explained/explain-routes.ts';
import { routeFinderSteps, type RouteFinder } from './route-list.ts';
import type { ResolvedRoute, RouteTable } from '../stream/route.ts';
import { compileVirtualClusters } from './virtual-clusters.ts';
import { whenAskedSteps } from './when-asked.ts';

/** Virtual hosts whose domains are put into the index in one step. */
const HOSTS_PER_STEP = 256;
/** Routes that are compiled in one step; each takes some microseconds. */
const ROUTES_PER_STEP = 64;

/** As `routeTableSteps`, for a table that is not large. */
export function buildRouteTable(
  table: RouteConfigurationResource,
  runtime: Runtime = new WorkerRuntime(),
): RouteTable {
  return finish(routeTableSteps(table, runtime));
}

/** Throws when a resource could not have passed the supervisor's checks. */
export function* routeTableSteps(
  table: RouteConfigurationResource,
  runtime: Runtime,
): Steps<RouteTable> {
  const hosts = new DomainIndex<() => CompiledHost>(table.ignorePortInHostMatching);
  let indexed = 0;
  for (const virtualHost of table.virtualHosts) {
    const host = yield* whenAskedSteps(table.virtualHosts.length, () =>
      virtualHostSteps(virtualHost, table, runtime),
    );
    for (const domain of virtualHost.domains) hosts.add(domain, host);
    if (++indexed % HOSTS_PER_STEP === 0) yield;
  }
  const { virtualHostHeader: header } = table;
  const hostNameOf = (headers: HeaderMap): string | undefined =>
    header === undefined ? headers.authority : headers.get(header);
  const hostOf = (headers: HeaderMap): CompiledHost | undefined => {
    const name = hostNameOf(headers);
    return name === undefined ? undefined : hosts.find(name)?.();
  };
  return {
    name: table.name,
    internalOnlyHeaders: table.internalOnlyHeaders,
    isOnDemand: table.isOnDemand === true,
    hasHost: (headers) => hostOf(headers) !== undefined,
    match(headers, info) {
      if (hasNoProtocol(headers)) return undefined;
      return hostOf(headers)?.match(headers, info);
    },
    explain: function* (headers, info) {
      if (hasNoProtocol(headers)) return { tried: [], omitted: 0, route: undefined };
      const host = hostOf(headers);
      if (host === undefined) return { tried: [], omitted: 0, route: undefined };
      const domain = hosts.domainOf(hostNameOf(headers) ?? '');
      const virtualHost = { name: host.resource.name, domain };
      const redirect = host.tlsRedirect(headers, info);
      if (redirect !== undefined) return { virtualHost, tried: [], omitted: 0, route: redirect };
      const routes = host.routesFor(headers, info);
      const { found, ...tried } = yield* tryRoutes(routes, {
        headers,
        path: host.pathOf(headers.path),
        info,
        runtime,
      });
      return { virtualHost, ...tried, route: found?.resolve(headers, info) };
    },
  };
}

/** As in Envoy: a client that says it came by no protocol gets no route. */
function hasNoProtocol(headers: HeaderMap): boolean {
  return headers.get('x-forwarded-proto') === '';
}

interface CompiledHost {
  readonly resource: VirtualHost;
  match(headers: HeaderMap, info: StreamInfo): ResolvedRoute | undefined;
  /** Where it asks for TLS and the request came without. */
  tlsRedirect(headers: HeaderMap, info: StreamInfo): ResolvedRoute | undefined;
  /** What of a target is matched. */
  pathOf(target: string): string;
  /** Those that the request may take, in order. */
  routesFor(headers: HeaderMap, info: StreamInfo): readonly CompiledRoute[];
}

/** Routes with what finds one of them. */
interface FoundRoutes {
  readonly list: readonly CompiledRoute[];
  readonly find: RouteFinder;
}

function* virtualHostSteps(
  virtualHost: VirtualHost,
  table: RouteConfigurationResource,
  runtime: Runtime,
): Steps<CompiledHost> {
  const context = { table, virtualHost, runtime };
  const virtualClusterOf = compileVirtualClusters(virtualHost);
  function* routeSteps(routes: readonly Route[]): Steps<FoundRoutes> {
    const list: CompiledRoute[] = [];
    for (const route of routes) {
      list.push(compileRoute(route, context, virtualClusterOf));
      if (list.length % ROUTES_PER_STEP === 0) yield;
    }
    return { list, find: yield* routeFinderSteps(list) };
  }
  const compileRoutes = (routes: readonly Route[]): FoundRoutes => finish(routeSteps(routes));
  const { routesFor, find } =
    virtualHost.matcher === undefined
      ? always(yield* routeSteps(virtualHost.routes))
      : inTree(compileMatcherTree(virtualHost.matcher, compileRoutes, runtime));
  const pathOf = table.ignorePathParameters === true ? pathWithoutParameters : pathWithoutQuery;
  const match: CompiledHost['match'] = (headers, info) => {
    return find(headers, pathOf(headers.path), info)?.resolve(headers, info);
  };
  const { requireTls } = virtualHost;
  const compiled = { resource: virtualHost, routesFor, pathOf };
  if (requireTls === 'NONE') return { ...compiled, match, tlsRedirect: () => undefined };
  const redirect = compileTlsRedirect(virtualHost);
  const tlsRedirect: CompiledHost['tlsRedirect'] = (headers, info) => {
    const isPlain = headers.get('x-forwarded-proto') !== 'https';
    const isMeant = requireTls === 'ALL' || !info.isInternalRequest;
    return isPlain && isMeant ? redirect : undefined;
  };
  return {
    ...compiled,
    tlsRedirect,
    match: (headers, info) => tlsRedirect(headers, info) ?? match(headers, info),
  };
}

function pathWithoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

/** Without `;name=value` behind its segments (RFC 3986, section 3.3). */
function pathWithoutParameters(target: string): string {
  const path = pathWithoutQuery(target);
  return path.includes(';') ? path.replace(/;[^/]*/g, '') : path;
}

interface RouteChoice extends Pick<CompiledHost, 'routesFor'> {
  readonly find: RouteFinder;
}

function always({ list, find }: FoundRoutes): RouteChoice {
  return { routesFor: () => list, find };
}

/** The routes that the tree leads to are tried in order. */
function inTree(match: TreeMatcher<FoundRoutes>): RouteChoice {
  return {
    routesFor: (headers, info) => match(headers, info)?.list ?? [],
    find: (headers, path, info) => match(headers, info)?.find(headers, path, info),
  };
}
