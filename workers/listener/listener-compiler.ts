/**
 * Turns a listener's resource into what serves its connections: the filter chain's connection manager
 * with its policy, routes, filters and access logs. Throws, with nothing changed, when a part cannot
 * be made.
 */
import assert from 'node:assert/strict';
import type { HttpFilter } from '../../shared/resources/http-filters.ts';
import type {
  FilterChain,
  HttpConnectionManager,
  ListenerResource,
  NetworkFilter,
} from '../../shared/resources/listener.ts';
import type { ListenerFilter } from '../../shared/resources/listener-filters.ts';
import type { GateFilter, TcpProxy } from '../../shared/resources/network-filters.ts';
import type { RateLimitBucket } from '../../shared/resources/rate-limit-bucket.ts';
import type { RouteConfigurationResource } from '../../shared/resources/route.ts';
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { AccessLogs } from '../access-log/access-logs.ts';
import type { DataPlaneEnv } from '../data-plane.ts';
import type { FilterFactory, TerminalFilterFactory } from '../http/filter.ts';
import { http1ServerCodecs } from '../http/http1/server-codec-factory.ts';
import { ConnectionManager, type RouteSource } from '../http/conn-manager/manager.ts';
import { serveHttp } from '../http/conn-manager/http-server.ts';
import { compileLocalReplies } from '../http/conn-manager/local-reply-rewriter.ts';
import { ManagerStats } from '../http/conn-manager/manager-stats.ts';
import type { ExtensionStore } from '../filters/extension-store.ts';
import type { FilterContext } from '../filters/filter-context.ts';
import { sharedBucket } from '../filters/token-bucket.ts';
import { makeFilterFactory } from '../filters/make-filter-factory.ts';
import { localAddress } from '../../shared/local-address.ts';
import { buildHeaderPolicy } from '../http/headers/header-policy.ts';
import { compileMatcherTree } from '../matching/matcher-tree.ts';
import { runtimeTls } from '../net/runtime-tls.ts';
import { bufferLimit } from '../net/transport.ts';
import type { RouteTable } from '../routing/types.ts';
import { type RouterContext, RouterFilter } from '../router/router-filter.ts';
import { RouterStats } from '../router/router-stats.ts';
import { holdViews } from '../router/route-views.ts';
import { gatedServer } from '../tcp/gated-server.ts';
import { makeGate } from '../tcp/make-gates.ts';
import { smallServer } from '../tcp/small-servers.ts';
import { TcpProxyServer } from '../tcp/tcp-proxy.ts';
import type { Taps } from '../tap/taps.ts';
import { DownstreamTlsFactory } from '../tls/downstream-tls.ts';
import type { SecretStore } from '../tls/secret-store.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { Runtime } from '../runtime.ts';
import { OverloadGate } from '../overload-gate.ts';
import type { WorkerLoop } from '../worker-loop.ts';
import type { ChainServer } from './chain-server.ts';
import { ChainSelector, type CompiledChain } from './chain-selector.ts';
import { HttpInspector } from './filters/http-inspector.ts';
import type { ListenerFilterRunner } from './filters/listener-filter.ts';
import { ProxyProtocolReader } from './filters/proxy-protocol.ts';
import { TlsInspector } from './filters/tls-inspector.ts';
import { ChainDrain, type DrainState } from './drain-state.ts';
import type { RouteDemand } from '../routing/route-demand.ts';
import type { RouteStore } from './route-store.ts';
import { SharedCount, type SharedPages } from './shared-count.ts';
import type { CompiledListener } from './compiled-listener.ts';

export interface CompilerContext {
  readonly env: DataPlaneEnv;
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly routes: RouteStore;
  readonly routeDemand: RouteDemand;
  readonly secrets: SecretStore;
  readonly extensions: ExtensionStore;
  readonly overload: OverloadGate;
  readonly drain: DrainState;
  readonly buildRoutes: (config: RouteConfigurationResource) => RouteTable;
  readonly accessLogs: AccessLogs;
  readonly runtime: Runtime;
  readonly taps: Taps;
  /** Of limits that all workers keep together. */
  readonly pages: SharedPages;
  /** Of requests that the proxy makes by itself. */
  readonly ownStats: RouterStats;
}

interface ChainContext extends CompilerContext {
  readonly chainDrain: ChainDrain;
}

type RouterSettings = Extract<HttpFilter, { readonly kind: 'router' }>;

const RQ_TOO_LARGE = HTTP_CONNECTION_MANAGER.index.downstream_rq_too_large;

export function compileListener(
  resource: ListenerResource,
  context: CompilerContext,
): CompiledListener {
  const compiled: CompiledChain[] = [];
  const releases: (() => void)[] = [];
  const own = context.accessLogs.open(resource.accessLogs);
  releases.push(() => own.release());
  const compileOne = (chain: FilterChain): CompiledChain => {
    const drain = new ChainDrain();
    const parts = compileFilters(chain.networkFilters, resource, { ...context, chainDrain: drain });
    const tls = compileTls(chain, resource, context);
    if (parts !== undefined) releases.push(parts.release);
    if (tls !== undefined) releases.push(() => tls.release());
    return { resource: chain, server: parts?.server, tls, drain };
  };
  const listenerFilters = resource.listenerFilters.flatMap((filter) => {
    const runner = makeListenerFilter(filter, context.env);
    return runner === undefined ? [] : [withCondition(runner, filter.disabled)];
  });
  for (const filter of listenerFilters) releases.push(() => filter.release());
  for (const chain of resource.filterChains) compiled.push(compileOne(chain));
  const { defaultFilterChain: last } = resource;
  const release = (): void => {
    for (const each of releases) each();
  };
  return {
    resource,
    chains: new ChainSelector(
      compiled,
      last === undefined ? undefined : compileOne(last),
      resource.chainMatcher &&
        compileMatcherTree(resource.chainMatcher, (name) => name, context.runtime),
    ),
    listenerFilters,
    accessLogs: own.logs,
    showsLocalAddress: JSON.stringify(resource).includes('DOWNSTREAM_LOCAL'),
    readsOriginal: resource.listenerFilters.some(({ kind }) => kind === 'original_dst'),
    release,
  };
}

function withCondition(
  runner: ListenerFilterRunner,
  disabled: ListenerFilter['disabled'],
): ListenerFilterRunner {
  if (disabled === undefined) return runner;
  return {
    disabled,
    inspect: (data, facts) => runner.inspect(data, facts),
    release: () => runner.release(),
  };
}

/** Undefined for a chain without filters. */
function compileFilters(
  filters: readonly NetworkFilter[],
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter | undefined {
  const last = filters.at(-1);
  if (last === undefined) return undefined;
  const gateContext = {
    ...context,
    stats: context.env.stats,
    sharedBucket: (options: RateLimitBucket) =>
      sharedBucket(options, context.pages.rateLimitPage(), listener.name),
    wantedHosts: (name: string) => context.clusters.get(name)?.wantedHosts,
    sharedCount: (place: string) => new SharedCount(`${listener.name} ${place}`, context.pages),
  };
  const gates = filters.slice(0, -1).flatMap((filter) => {
    return isGate(filter) ? [makeGate(filter, gateContext)] : [];
  });
  const { server, release } = compileLast(last, listener, context);
  return {
    server: gatedServer(server, gates, context.loop),
    release() {
      release();
      for (const gate of gates) gate.release();
    },
  };
}

function compileLast(
  filter: NetworkFilter,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  switch (filter.kind) {
    case 'http_connection_manager':
      return compileManager(filter, listener, context);
    case 'tcp_proxy':
      return compileTcpProxy(filter, listener, context);
    case 'echo':
    case 'direct_response': {
      const response = filter.kind === 'echo' ? undefined : filter.response;
      const bufferLimitBytes = bufferLimit(listener.perConnectionBufferLimitBytes);
      const server = smallServer(response, { loop: context.loop, bufferLimitBytes });
      return { server, release: () => undefined };
    }
    default:
      throw new Error(`a chain of network filters cannot end in ${filter.kind}`);
  }
}

function isGate(filter: NetworkFilter): filter is GateFilter {
  return (
    filter.kind === 'sni_cluster' ||
    filter.kind === 'network_local_ratelimit' ||
    filter.kind === 'network_rbac' ||
    filter.kind === 'connection_limit' ||
    filter.kind === 'set_filter_state' ||
    filter.kind === 'sni_dynamic_forward_proxy'
  );
}

interface CompiledFilter {
  readonly server: ChainServer;
  readonly release: () => void;
}

function compileTcpProxy(
  config: TcpProxy,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  const { loop, env, clusters, runtime, accessLogs } = context;
  const own = accessLogs.open(config.accessLogs);
  const server = new TcpProxyServer(config, {
    loop,
    stats: env.stats,
    clusters,
    runtime,
    drain: context.drain.viewOf(listener, context.chainDrain),
    overload: overloadOf(listener, context),
    random: Math.random,
    accessLogs: own.logs,
    bufferLimitBytes: bufferLimit(listener.perConnectionBufferLimitBytes),
  });
  const release = (): void => {
    own.release();
    server.release();
  };
  return { server, release };
}

/** Undefined for what needs no bytes of the connection. */
function makeListenerFilter(
  filter: ListenerFilter,
  { stats }: DataPlaneEnv,
): ListenerFilterRunner | undefined {
  switch (filter.kind) {
    case 'original_dst':
      return undefined;
    case 'tls_inspector':
      return new TlsInspector(stats);
    case 'http_inspector':
      return new HttpInspector(stats);
    case 'proxy_protocol':
      return new ProxyProtocolReader(filter, stats);
  }
}

function compileTls(
  { tls, handshakeTimeoutMs }: FilterChain,
  listener: ListenerResource,
  { env, secrets }: CompilerContext,
): DownstreamTlsFactory | undefined {
  if (tls === undefined) return undefined;
  return new DownstreamTlsFactory(tls, {
    clock: env.clock,
    handshakeTimeoutMs,
    stats: env.stats,
    statOwner: `listener.${listener.statName}.`,
    ticketKeys: Buffer.from(env.heritage.ticketKeys, 'base64'),
    secrets,
    runtime: runtimeTls(),
    log: (line) => env.log('debug', 'connection', line),
  });
}

function compileManager(
  config: HttpConnectionManager,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  const { env, loop } = context;
  const routes = routeSource(config, context);
  const accessLogs = context.accessLogs.open(config.accessLogs);
  const stats = new ManagerStats(env.stats, config.statPrefix, listener.statName);
  const policy = buildHeaderPolicy(config, {
    localAddressIpVersion: env.heritage.localAddressIpVersion,
    node: env.heritage.node,
    countDroppedHeader: () => stats.countDroppedHeader(),
    internalOnlyHeaders: (headers) => routes.tableFor(headers)?.internalOnlyHeaders ?? [],
  });
  const drain = context.drain.viewOf(listener, context.chainDrain);
  const routerStats = new RouterStats(env.stats, config.statPrefix, env.heritage.node.zone);
  const upstreamLogs = context.accessLogs.open(routerOf(config).options.upstreamLogs);
  const terminal = terminalFilter(
    config,
    listener,
    { stats: routerStats, upstreamLogs: upstreamLogs.logs },
    context,
  );
  const filterBlocks: number[] = [];
  const bucketOwner = `${listener.name}/${routesName(config)}`;
  const filterContext: FilterContext = {
    loop,
    stats: env.stats,
    runtime: context.runtime,
    statPrefix: `http.${config.statPrefix}.`,
    countRequestTooLarge: () => stats.count(RQ_TOO_LARGE),
    isHealthCheckFailed: () => context.drain.isHealthCheckFailed,
    compressorOffers: new WeakMap(),
    taps: context.taps,
    clusterHealth: (name) => context.clusters.get(name)?.health(),
    wantedHosts: (name) => context.clusters.get(name)?.wantedHosts,
    missingRoutes: (headers) => routes.missingFor?.(headers),
    routeDemand: context.routeDemand,
    extensions: context.extensions,
    nodeCluster: env.heritage.node.cluster,
    sharedBucket: (options) => sharedBucket(options, context.pages.rateLimitPage(), bucketOwner),
    onBlock: (base) => void filterBlocks.push(base),
  };
  const manager = new ConnectionManager(config, {
    loop,
    makeCodec: http1ServerCodecs(config),
    stats,
    policy,
    accessLogs: accessLogs.logs,
    rewriteLocalReply:
      config.localReplies && compileLocalReplies(config.localReplies, context.runtime),
    routes,
    filters: filtersOf(config, filterContext),
    terminal,
    drain,
    overload: overloadOf(listener, context),
    bufferLimitBytes: bufferLimit(listener.perConnectionBufferLimitBytes),
  });
  const views = inlineRoutes(config).map((each) => holdViews(each, env.stats));
  const release = (): void => {
    for (const letGo of views) letGo();
    stats.release();
    routerStats.release();
    accessLogs.release();
    upstreamLogs.release();
    for (const base of filterBlocks) env.stats.releaseBlock(base);
  };
  return { server: serveHttp(manager), release };
}

/** Those before the router. */
function filtersOf(
  config: HttpConnectionManager,
  context: FilterContext,
): readonly FilterFactory[] {
  return config.filters.slice(0, -1).map((filter) => {
    const factory = makeFilterFactory(filter, context);
    return filter.isOffByDefault === true ? offByDefault(factory) : factory;
  });
}

/** Another one, which is never told of any pressure, for listeners that serve in any case. */
function overloadOf(listener: ListenerResource, context: CompilerContext): OverloadGate {
  if (!listener.bypassesOverload) return context.overload;
  const { env, loop } = context;
  return new OverloadGate({ random: Math.random, stats: env.stats, timers: loop.timers });
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

function routerOf(config: HttpConnectionManager): RouterSettings {
  const last = config.filters.at(-1);
  assert(last?.kind === 'router', 'the last filter of a connection manager is the router');
  return last;
}

function terminalFilter(
  config: HttpConnectionManager,
  listener: ListenerResource,
  own: Pick<RouterContext, 'stats' | 'upstreamLogs'>,
  context: CompilerContext,
): TerminalFilterFactory {
  const last = routerOf(config);
  const routerContext = {
    loop: context.loop,
    clusters: context.clusters,
    ...own,
    respectExpectedRqTimeout: last.options.respectExpectedRqTimeout,
    suppressEnvoyHeaders: last.options.suppressEnvoyHeaders || config.suppressEnvoyHeaders,
    proxy100Continue: config.proxy100Continue,
    overload: overloadOf(listener, context),
    shadows: {
      loop: context.loop,
      clusters: context.clusters,
      runtime: context.runtime,
      ownStats: context.ownStats,
      localAddress: localAddress(context.env.heritage.localAddressIpVersion),
    },
    isHealthCheckFailed: () => context.drain.isHealthCheckFailed,
  };
  return { name: last.name, create: (callbacks) => new RouterFilter(routerContext, callbacks) };
}

function offByDefault(factory: FilterFactory): FilterFactory {
  const { name } = factory;
  return { name, isOffByDefault: true, create: (callbacks) => factory.create(callbacks) };
}

/** Empty for routes that stand in the listener, whose places begin there. */
function routesName({ routes }: HttpConnectionManager): string {
  return routes.kind === 'named' ? routes.name : '';
}
