/**
 * Turns the message of a connection manager into what serves the connections of a chain: codec,
 * header policy, routes, filters, router and access logs.
 */
import { assert } from '../../shared/process/assert.ts';
import type { RouterFilterSettings } from '../../shared/resources/filters/http/router.ts';
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type { RouteConfigurationResource } from '../../shared/resources/routes/route.ts';
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { TerminalFilterFactory } from '../stream/filter.ts';
import { ConnectionManager, type RouteSource } from '../manager/manager.ts';
import { serveHttp } from '../manager/http-server.ts';
import { compileLocalReplies } from '../manager/local-reply-rewriter.ts';
import type { FilterFactory } from '../stream/filter.ts';
import { withListener } from '../filters/http/listened-tap-filter.ts';
import { ManagerLedger } from '../manager/manager-ledger.ts';
import { timedRoutes } from '../manager/route-lookups.ts';
import { ManagerStats } from '../manager/manager-stats.ts';
import type { FilterContext } from '../filters/filter-context.ts';
import { buildHeaderPolicy } from '../headers/header-policy.ts';
import { bufferLimit } from '../net/write-blocks.ts';
import { makeStreamExplainer } from '../explain/explain-stream.ts';
import type { HeaderPolicy, UnderscoreCounts } from '../manager/types.ts';
import type { HeaderOptions } from '../router/envoy-headers.ts';
import type { RouterContext } from '../router/router-context.ts';
import { RouterFilter } from '../router/router-filter.ts';
import { RouterLedger } from '../router/ledger/router-ledger.ts';
import { holdViews } from '../router/route-views.ts';
import { compileTracing } from './compile-tracing.ts';
import { filterParts, makeAttemptFilters, makeFilterFactories } from './filter-parts.ts';
import { serverCodecs, traitsOf } from './codec-choice.ts';
import {
  type ChainContext,
  type CompiledFilter,
  type CompilerContext,
  overloadOf,
} from './compiler-context.ts';
import { scopePrefix } from '../../shared/stats/stat-scope.ts';

const { downstream_rq_too_large: RQ_TOO_LARGE, rs_too_large: RS_TOO_LARGE } =
  HTTP_CONNECTION_MANAGER.index;

/** Throws, with nothing changed, when a part cannot be made. */
export function compileManager(
  received: HttpConnectionManager,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  // An object as large as this comes off the channel as a hash table, which every request would
  // search; its copy has its members at fixed places.
  const config = { ...received };
  const { env, loop, runtime } = context;
  const plainRoutes = routeSource(config, context);
  const accessLogs = context.accessLogs.open(config.accessLogs);
  const stats = new ManagerStats(env.stats, config.statPrefix, listener.statName, traitsOf);
  const { source: routes, ledger } = countedRoutes(config, plainRoutes, stats, context);
  const makePolicy = policyMaker(config, routes, env);
  const routerLedger = new RouterLedger(env.stats, config.statPrefix, env.heritage.node.zone);
  const upstreamLogs = context.accessLogs.open(routerOf(config).options.upstreamLogs);
  const bufferLimitBytes = bufferLimit(listener.perConnectionBufferLimitBytes);
  const filterReleases: (() => void)[] = [];
  const filterContext: FilterContext = {
    ...filterParts(context, bucketOwner(config, listener)),
    ...namesOf(config.statPrefix),
    ...tooLargeCounters(stats),
    bufferLimitBytes,
    missingRoutes: (headers) => routes.missingFor?.(headers),
    onBlock: (base) => void filterReleases.push(() => env.stats.releaseBlock(base)),
    onRelease: (act) => void filterReleases.push(act),
  };
  const own = {
    ledger: routerLedger,
    upstreamLogs:
      upstreamLogs.logs.length === 0
        ? undefined
        : { logs: upstreamLogs.logs, moments: routerOf(config).options.upstreamLogMoments },
    attemptFilters: makeAttemptFilters(routerOf(config).options.upstreamFilters, filterContext),
  };
  const filters = filtersOf(config, listener, context, filterContext);
  const codecs = serverCodecs(config, { loop, stats: env.stats, runtime, bufferLimitBytes });
  const manager = new ConnectionManager(config, {
    loop,
    makeCodec: codecs.make,
    stats,
    ledger,
    policy: makePolicy(stats),
    accessLogs: accessLogs.logs,
    rewriteLocalReply: config.localReplies && compileLocalReplies(config.localReplies, runtime),
    routes,
    filters,
    terminal: terminalFilter(config, listener, own, context),
    drain: context.drain.viewOf(listener, context.chainDrain),
    tracing: context.watches.around(compileTracing(config, listener, context, filterContext)),
    overload: overloadOf(listener, context),
    bufferLimitBytes,
  });
  const views = inlineRoutes(config).map((each) => holdViews(each, env.stats));
  const release = (): void => {
    for (const letGo of [...views, ...filterReleases]) letGo();
    for (const each of [codecs, stats, routerLedger, accessLogs, upstreamLogs]) each.release();
  };
  return {
    server: serveHttp(manager),
    release,
    explain: makeStreamExplainer({
      manager,
      policy: () => makePolicy(NOBODY_COUNTS),
      headerOptions: routerOptions(config),
      clusters: context.clusters,
    }),
  };
}

/** Those before the router, asked for at each request. */
function filtersOf(
  config: HttpConnectionManager,
  listener: ListenerResource,
  { taps, loop }: ChainContext,
  filterContext: FilterContext,
): () => readonly FilterFactory[] {
  const configured = makeFilterFactories(config.filters.slice(0, -1), filterContext);
  return withListener(configured, listener.name, taps, () => loop.clock.wallMs);
}

/** Makes policies that differ in who counts. */
function policyMaker(
  config: HttpConnectionManager,
  routes: RouteSource,
  env: CompilerContext['env'],
): (underscores: UnderscoreCounts) => HeaderPolicy {
  return (underscores) =>
    buildHeaderPolicy(config, {
      localAddressIpVersion: env.heritage.localAddressIpVersion,
      node: env.heritage.node,
      underscores,
      internalOnlyHeaders: (headers) => routes.tableFor(headers)?.internalOnlyHeaders ?? [],
    });
}

/** The counts of requests that somebody only asks about. */
const NOBODY_COUNTS: UnderscoreCounts = {
  countDroppedHeader: () => undefined,
  countRefusedUnderscore: () => undefined,
};

function countedRoutes(
  { timesRoutes }: HttpConnectionManager,
  source: RouteSource,
  stats: ManagerStats,
  { env, refusals }: ChainContext,
): ReturnType<typeof timedRoutes> {
  if (timesRoutes === true) return timedRoutes(source, env.clock, stats, refusals);
  return { source, ledger: new ManagerLedger(stats, refusals) };
}

function tooLargeCounters(
  stats: ManagerStats,
): Pick<FilterContext, 'countRequestTooLarge' | 'countResponseTooLarge'> {
  return {
    countRequestTooLarge: () => stats.count(RQ_TOO_LARGE),
    countResponseTooLarge: () => stats.count(RS_TOO_LARGE),
  };
}

function routeSource(config: HttpConnectionManager, context: CompilerContext): RouteSource {
  const { routes } = config;
  if (routes.kind === 'named') return context.routes.sourceOf(routes.name);
  if (routes.kind === 'scoped') {
    return context.routes.scopedSourceOf(routes, (each) => context.buildRoutes(each.config));
  }
  const table = context.buildRoutes(routes.config);
  return { tableFor: () => table };
}

function inlineRoutes({ routes }: HttpConnectionManager): readonly RouteConfigurationResource[] {
  switch (routes.kind) {
    case 'named':
      return [];
    case 'inline':
      return [routes.config];
    case 'scoped': {
      const { scopes } = routes;
      return scopes.kind === 'inline' ? scopes.scopes.map(({ config }) => config) : [];
    }
  }
}

function routerOf(config: HttpConnectionManager): RouterFilterSettings {
  const last = config.filters.at(-1);
  assert(last?.kind === 'router', 'the last filter of a connection manager is the router');
  return last;
}

function routerOptions(config: HttpConnectionManager): HeaderOptions {
  const { respectExpectedRqTimeout, suppressEnvoyHeaders } = routerOf(config).options;
  return {
    respectExpectedRqTimeout,
    suppressEnvoyHeaders: suppressEnvoyHeaders || config.suppressEnvoyHeaders,
  };
}

function terminalFilter(
  config: HttpConnectionManager,
  listener: ListenerResource,
  own: Pick<RouterContext, 'ledger' | 'upstreamLogs' | 'attemptFilters'>,
  context: CompilerContext,
): TerminalFilterFactory {
  const last = routerOf(config);
  const routerContext = {
    loop: context.loop,
    clusters: context.clusters,
    ...own,
    ...routerOptions(config),
    proxy100Continue: config.proxy100Continue,
    schemeMatchesUpstream: config.schemeMatchesUpstream === true,
    strictHeaders: last.options.strictHeaders ?? [],
    overload: overloadOf(listener, context),
    mirrors: {
      clusters: context.clusters,
      runtime: context.runtime,
      client: context.upstreamClient,
    },
  };
  return { name: last.name, create: (callbacks) => new RouterFilter(routerContext, callbacks) };
}

/** Whose limits those are that all workers keep together. */
function bucketOwner(config: HttpConnectionManager, { name }: ListenerResource): string {
  return `${name}/${routesName(config)}`;
}

/** Empty for routes that stand in the listener, whose places begin there. */
function routesName({ routes }: HttpConnectionManager): string {
  return routes.kind === 'named' ? routes.name : '';
}

/** How names of statistics begin below a connection manager. */
function namesOf(statPrefix: string): Pick<FilterContext, 'statPrefix' | 'statScope'> {
  return { statPrefix: `http.${statPrefix}.`, statScope: scopePrefix(`http.${statPrefix}`) };
}
