/**
 * Turns a listener's resource into what serves its connections: chains with their network filters
 * and TLS, listener filters, access logs. Throws, with nothing changed and nothing left behind, when
 * a part cannot be made.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type {
  FilterChain,
  HttpConnectionManager,
  ListenerResource,
  NetworkFilter,
} from '../../shared/resources/listener.ts';
import type { ListenerFilter } from '../../shared/resources/filters/listener-filters.ts';
import type { TcpTerminalFilter } from '../../shared/resources/filters/network-filters.ts';
import type { RedisProxy } from '../../shared/resources/filters/network/redis-proxy.ts';
import type { TcpProxy } from '../../shared/resources/filters/network/tcp-proxy.ts';
import type { ThriftProxy } from '../../shared/resources/filters/network/thrift-proxy.ts';
import type { RateLimitBucket } from '../../shared/resources/routes/rate-limit-bucket.ts';
import { secretText } from '../filters/common/generic-secret.ts';
import { sharedBucket } from '../filters/common/token-bucket.ts';
import { compileMatcherTree } from '../matching/matcher-tree.ts';
import { runtimeTls } from '../net/tls/runtime-tls.ts';
import { bufferLimit } from '../net/write-blocks.ts';
import { gatedServer } from '../tcp/gated-server.ts';
import { LISTENER_FILTERS } from '../filters/listener-filters.ts';
import { hostModules } from './script-host.ts';
import { GATES } from '../filters/network-filters.ts';
import { smallServer } from '../tcp/terminal-servers.ts';
import { THRIFT_FILTERS } from '../thrift/thrift-filters.ts';
import { ThriftProxyServer } from '../thrift/thrift-proxy.ts';
import { RedisProxyServer } from '../redis/redis-proxy.ts';
import { TcpProxyServer } from '../tcp/tcp-proxy.ts';
import { DownstreamTlsFactory } from '../tls/downstream-tls.ts';
import { ChainSelector, type CompiledChain } from '../listener/chain-selector.ts';
import type { ListenerFilterRunner } from '../listener/listener-filter.ts';
import { ChainDrain } from '../listener/drain-state.ts';
import { SharedCount } from '../loop/shared-count.ts';
import type { Steps } from '../loop/sliced-work.ts';
import type { CompiledListener } from '../listener/compiled-listener.ts';
import {
  type ChainContext,
  type CompiledFilter,
  type CompilerContext,
  overloadOf,
} from './compiler-context.ts';
import { compileManager } from './manager-compiler.ts';

/** What may end a chain. */
const TERMINALS = new KindTable<
  HttpConnectionManager | TcpTerminalFilter,
  [ListenerResource, ChainContext],
  CompiledFilter
>({
  http_connection_manager: compileManager,
  tcp_proxy: compileTcpProxy,
  redis_proxy: compileRedisProxy,
  thrift_proxy: compileThriftProxy,
  echo: (_, listener, context) => compileSmall(undefined, listener, context),
  direct_response: ({ response }, listener, context) => compileSmall(response, listener, context),
});

/** One step per filter chain. */
export function* compileListener(
  resource: ListenerResource,
  context: CompilerContext,
): Steps<CompiledListener> {
  const releases: (() => void)[] = [];
  const release = (): void => {
    for (const each of releases) each();
  };
  try {
    const parts = yield* compileParts(resource, context, releases);
    return { ...parts, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** What has to be released is put on the list as soon as it is there. */
function* compileParts(
  resource: ListenerResource,
  context: CompilerContext,
  releases: (() => void)[],
): Steps<Omit<CompiledListener, 'release'>> {
  const compiled: CompiledChain[] = [];
  let showsLocalAddress = false;
  const own = context.accessLogs.open(resource.accessLogs);
  releases.push(() => own.release());
  const compileOne = (chain: FilterChain): CompiledChain => {
    const drain = new ChainDrain();
    const parts = compileFilters(chain.networkFilters, resource, { ...context, chainDrain: drain });
    if (parts !== undefined) releases.push(parts.release);
    const tls = compileTls(chain, resource, context);
    if (tls !== undefined) releases.push(() => tls.release());
    const watched = context.taps.watch(chain.taps);
    if (watched !== undefined) releases.push(() => watched.release());
    const { server, explain } = parts ?? {};
    const { taps } = context;
    return {
      resource: chain,
      server,
      tls,
      drain,
      explain,
      // A client of `/tap/listen` hears new connections before configured taps do.
      watch: () => taps.listened?.connections(resource.name) ?? watched?.watch,
    };
  };
  const listenerContext = {
    ...context,
    sharedBucket: (options: RateLimitBucket) =>
      sharedBucket(options, context.pages.rateLimitPage(), resource.name),
  };
  const listenerFilters = resource.listenerFilters.flatMap((filter) => {
    const runner = LISTENER_FILTERS.make(filter, listenerContext);
    return runner === undefined ? [] : [withCondition(runner, filter.disabled)];
  });
  for (const filter of listenerFilters) releases.push(() => filter.release());
  for (const chain of resource.filterChains) {
    compiled.push(compileOne(chain));
    showsLocalAddress ||= showsLocal(chain);
    yield;
  }
  const { defaultFilterChain: last, filterChains: _, ...rest } = resource;
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
    showsLocalAddress: showsLocalAddress || showsLocal(rest) || showsLocal(last),
    readsOriginal: resource.listenerFilters.some(({ kind }) => kind === 'original_dst'),
  };
}

/** A log or header that is configured in it has the local address. */
function showsLocal(part: object | undefined): boolean {
  return part !== undefined && JSON.stringify(part).includes('DOWNSTREAM_LOCAL');
}

function withCondition(
  runner: ListenerFilterRunner,
  disabled: ListenerFilter['disabled'],
): ListenerFilterRunner {
  if (disabled === undefined) return runner;
  return {
    disabled,
    ...(runner.accept && { accept: (connection) => runner.accept?.(connection) ?? true }),
    ...(runner.inspect && { inspect: (data, facts) => runner.inspect?.(data, facts) ?? 'done' }),
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
    scripts: hostModules(context.scripts, { ...context.env, loop: context.loop }, () => context),
    grpc: context.grpcServices,
    node: context.env.heritage.node,
    nodeMetadata: context.env.heritage.node.metadata,
    isFirstWorker: context.env.heritage.workerIndex === 0,
    sharedBucket: (options: RateLimitBucket, owner = listener.name) =>
      sharedBucket(options, context.pages.rateLimitPage(), owner),
    wantedHosts: (name: string) => context.clusters.get(name)?.wantedHosts,
    sharedCount: (place: string) => new SharedCount(`${listener.name} ${place}`, context.pages),
  };
  const gates = filters
    .slice(0, -1)
    .filter((filter) => GATES.has(filter))
    .map((filter) => GATES.make(filter, gateContext));
  if (!TERMINALS.has(last)) throw new Error(`a chain cannot end in ${last.kind}`);
  const { server, release, explain } = TERMINALS.make(last, listener, context);
  return {
    ...(explain !== undefined && { explain }),
    server: gatedServer(server, gates, context.loop),
    release() {
      release();
      for (const gate of gates) gate.release();
    },
  };
}

function compileSmall(
  response: string | undefined,
  listener: ListenerResource,
  { loop }: ChainContext,
): CompiledFilter {
  const bufferLimitBytes = bufferLimit(listener.perConnectionBufferLimitBytes);
  const server = smallServer(response, { loop, bufferLimitBytes });
  return { server, release: () => undefined };
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

function compileRedisProxy(
  config: RedisProxy,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  const { loop, env, clusters, runtime, grpcServices: grpc, secrets } = context;
  const server = new RedisProxyServer(config, {
    loop,
    stats: env.stats,
    clusters,
    runtime,
    drain: context.drain.viewOf(listener, context.chainDrain),
    grpc,
    secretText: (secret) => secretText(secret, secrets),
    bufferLimitBytes: bufferLimit(listener.perConnectionBufferLimitBytes),
  });
  return { server, release: () => server.release() };
}

function compileThriftProxy(
  config: ThriftProxy,
  listener: ListenerResource,
  context: ChainContext,
): CompiledFilter {
  const { loop, env, clusters } = context;
  const server = new ThriftProxyServer(config, {
    loop,
    stats: env.stats,
    clusters,
    drain: context.drain.viewOf(listener, context.chainDrain),
    random: Math.random,
    bufferLimitBytes: bufferLimit(listener.perConnectionBufferLimitBytes),
    filters: config.filters.map((filter) => THRIFT_FILTERS.make(filter)),
  });
  return { server, release: () => server.release() };
}

function compileTls(
  { tls, handshakeTimeoutMs, match }: FilterChain,
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
    serverNames: match?.serverNames ?? [],
    runtime: runtimeTls(),
    log: (line) => env.log('debug', 'connection', line),
  });
}
