/** The proxy of a listener's datagrams: finds the session of each, or begins one. */
import { isIP } from '../../shared/addresses/ip-text.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { UdpProxy } from '../../shared/resources/udp-listener.ts';
import type { AccessLogs, OpenAccessLogs } from '../access-log/access-logs.ts';
import { type Hash64, xxHash64 } from '../hash/xxhash64.ts';
import { socketAddress } from '../net/addresses.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { compileMatcherTree, type TreeMatcher } from '../matching/matcher-tree.ts';
import { ConnectionFacts, type ListenerInfo } from '../stream/connection-facts.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import { connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import type { BalanceContext } from '../upstream/balancing/load-balancer.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import { type Client, type SessionParts, type SessionPlace, UdpSession } from './udp-session.ts';
import { writeSessionLine } from './session-log.ts';
import { TunnelRequests } from './tunnel-requests.ts';
import { Traffic, UdpStats } from './udp-stats.ts';

const NO_HEADERS = new HeaderMap();
/** A datagram has no line of its own. */
const UNTIMED = { ms: 0, wallMs: 0 };

export interface UdpProxyParts {
  readonly loop: WorkerLoop;
  readonly clock: Clock;
  readonly stats: StatWriter;
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  readonly accessLogs: AccessLogs;
}

export class UdpProxyServer {
  readonly #config: UdpProxy;
  readonly #parts: UdpProxyParts;
  readonly #stats: UdpStats;
  readonly #matcher: TreeMatcher<string> | undefined;
  readonly #logs: OpenAccessLogs;
  readonly #ownLogs: OpenAccessLogs;
  readonly #sessionParts: SessionParts;
  readonly #sessions = new Map<string, UdpSession>();
  readonly #began: StreamInfo;

  constructor(config: UdpProxy, parts: UdpProxyParts, listener: ListenerInfo) {
    const { loop, runtime, accessLogs } = parts;
    this.#config = config;
    this.#parts = parts;
    this.#matcher =
      config.route.kind === 'matcher'
        ? compileMatcherTree(config.route.tree, (name) => name, runtime)
        : undefined;
    this.#logs = accessLogs.open(config.accessLogs);
    this.#ownLogs = accessLogs.open(config.proxyAccessLogs);
    this.#stats = new UdpStats(config.statPrefix, parts.stats);
    this.#began = connectionStream(new ConnectionFacts(addressesOf('', 0), listener), loop.clock);
    this.#sessionParts = {
      loop,
      stats: this.#stats,
      idle: loop.timers.list(Math.max(1, config.idleTimeoutMs)),
      logInterval: config.logIntervalMs > 0 ? loop.timers.list(config.logIntervalMs) : undefined,
      maxAnswerBytes: config.maxAnswerBytes,
      accessLogs: this.#logs.logs,
      usesCapsules: config.usesCapsules,
      tunnels: config.tunnel && new TunnelRequests(config.tunnel),
      ended: (session) => this.#sessions.delete(session.key),
    };
  }

  receive(data: Buffer, client: Client, doorKey: string, listener: ListenerInfo): void {
    const cluster = this.#clusterOf(client, listener);
    if (cluster === undefined) return this.#stats.noRoute();
    const base = `${doorKey} ${client.port} ${client.ip} ${cluster.name}`;
    const session = this.#config.balancesDatagrams
      ? this.#byDatagram(base, cluster, client, listener)
      : this.#byClient(base, cluster, client, listener);
    session?.forward(data);
  }

  sendFailed(): void {
    this.#stats.sendFailed(this.#stats.total);
  }

  receiveFailed(): void {
    this.#stats.receiveFailed();
  }

  /** Sessions end with it, and its own line is written. */
  release(): void {
    for (const session of Array.from(this.#sessions.values())) session.end(false);
    const info = this.#began;
    info.endMs = this.#parts.loop.clock.ms;
    info.dynamicMetadata = new Map([['udp.proxy.proxy', this.#stats.describe()]]);
    for (const log of this.#ownLogs.logs) log.log(info);
    this.#logs.release();
    this.#ownLogs.release();
    this.#stats.release();
  }

  #clusterOf(client: Client, listener: ListenerInfo): UpstreamCluster | undefined {
    const { route } = this.#config;
    const name =
      route.kind === 'cluster'
        ? route.name
        : this.#matcher?.(NO_HEADERS, connectionStream(factsOf(client, listener), UNTIMED));
    return name === undefined ? undefined : this.#parts.clusters.get(name);
  }

  /** A client stays with its host while that can take its datagrams. */
  #byClient(
    key: string,
    cluster: UpstreamCluster,
    client: Client,
    listener: ListenerInfo,
  ): UdpSession | undefined {
    const known = this.#sessions.get(key);
    if (known !== undefined) {
      if (known.cluster === cluster && known.seenVersion === cluster.version) return known;
      if (known.cluster === cluster && this.#isUsable(known.host, cluster)) {
        known.seenVersion = cluster.version;
        return known;
      }
      known.end(false);
    }
    const host = this.#chooseHost(cluster, client);
    if (host === undefined) this.#refuse(cluster, client, listener);
    return host && this.#begin(this.#placeOf(key, cluster, host, client), client, listener);
  }

  #byDatagram(
    base: string,
    cluster: UpstreamCluster,
    client: Client,
    listener: ListenerInfo,
  ): UdpSession | undefined {
    const host = this.#chooseHost(cluster, client);
    if (host === undefined) return undefined;
    const key = `${base} ${host.id}`;
    const known = this.#sessions.get(key);
    if (known?.host === host && known.cluster === cluster) return known;
    known?.end(false);
    return this.#begin(this.#placeOf(key, cluster, host, client), client, listener);
  }

  /** A tunnel lasts until its host ends it. */
  #isUsable(host: UpstreamHost, cluster: UpstreamCluster): boolean {
    if (this.#config.tunnel !== undefined) return true;
    return host.health !== 'unhealthy' && cluster.hosts.includes(host);
  }

  #placeOf(
    key: string,
    cluster: UpstreamCluster,
    host: UpstreamHost,
    client: Client,
  ): SessionPlace {
    return { key, cluster, host, chooseHost: () => this.#chooseHost(cluster, client) };
  }

  /** There is no host: Envoy has a session then where hosts are reached by tunnels, and ends it. */
  #refuse(cluster: UpstreamCluster, client: Client, listener: ListenerInfo): void {
    if (this.#config.tunnel === undefined) return;
    const info = connectionStream(factsOf(client, listener), this.#parts.loop.clock);
    info.responseFlags |= ResponseFlag.noHealthyUpstream;
    this.#stats.refused();
    this.#stats.ofCluster(cluster.name, cluster.stats.prefix, 'sess_tunnel_failure');
    const { logs } = this.#logs;
    const line = { logs, info, clusterName: cluster.name, traffic: new Traffic() };
    writeSessionLine(line, 'UdpSessionEnd');
  }

  #chooseHost(cluster: UpstreamCluster, client: Client): UpstreamHost | undefined {
    const host = cluster.chooseHost(this.#balanceOf(client));
    const isReached = this.#config.tunnel !== undefined || isIP(host?.ip ?? '') !== 0;
    if (host !== undefined && isReached) return host;
    if (this.#config.tunnel === undefined) {
      countOf(cluster, CLUSTER.index.upstream_cx_none_healthy);
    }
    return undefined;
  }

  #begin(place: SessionPlace, client: Client, listener: ListenerInfo): UdpSession | undefined {
    const { cluster, host, key } = place;
    const isTunnelled = this.#config.tunnel !== undefined;
    if (!isTunnelled && !host.tryOpenConnection(cluster.limits.DEFAULT, 'DEFAULT')) {
      countOf(cluster, CLUSTER.index.upstream_cx_overflow);
      this.#stats.refused();
      return undefined;
    }
    const info = connectionStream(factsOf(client, listener), this.#parts.loop.clock);
    const session = new UdpSession(place, client, info, this.#sessionParts);
    this.#sessions.set(key, session);
    session.start();
    return session;
  }

  #balanceOf({ ip }: Client): BalanceContext {
    const { hash } = this.#config;
    const computeHash = (): Hash64 | undefined => {
      if (hash === undefined) return undefined;
      return xxHash64(hash.kind === 'key' ? hash.key : socketAddress(ip, 0).ip);
    };
    return { requestHeaders: NO_HEADERS, maxHostDraws: 0, refusesHost: () => false, computeHash };
  }
}

function countOf({ stats }: UpstreamCluster, offset: number): void {
  stats.writer.increment(stats.base + offset);
}

function factsOf({ ip, port }: Client, listener: ListenerInfo): ConnectionFacts {
  return new ConnectionFacts(addressesOf(ip, port), listener);
}

/** The local address is the listener's. */
function addressesOf(
  remoteAddress: string,
  remotePort: number,
): ConstructorParameters<typeof ConnectionFacts>[0] {
  return { remoteAddress, remotePort, localAddress: undefined, localPort: undefined };
}
