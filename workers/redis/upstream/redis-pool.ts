/**
 * The connections of one Redis proxy to one cluster: one to each host that commands go to, and to
 * hosts outside of the cluster that redirections name.
 */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { RedisHostSettings } from '../../../shared/resources/filters/network/redis-proxy.ts';
import type { HostResource } from '../../../shared/resources/clusters/cluster.ts';
import { HeaderMap } from '../../stream/header-map.ts';
import type { BalanceContext } from '../../upstream/balancing/load-balancer.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { ClusterManager } from '../../upstream/cluster-manager.ts';
import { ActiveRequests } from '../../upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { RespVersion } from '../codec/resp-value.ts';
import type { CommandCallbacks } from './command-queue.ts';
import type { IamParts } from './credentials.ts';
import type { ClusterCommandStats } from './command-stats.ts';
import { ConnectionRate } from './connection-rate.ts';
import { hashOfKey, hashTagOf } from './key-hash.ts';
import { PoolRequest } from './pool-request.ts';
import type { CommandHandle } from './command-handle.ts';
import { RedisClient } from './redis-client.ts';

/** The limit of a mirror that does not keep up: copies beyond it are dropped. */
const MIRROR_BACKLOG_BYTES_MAX = 1024 * 1024;
const NO_HEADERS = new HeaderMap();

export interface RedisPoolParts {
  readonly clusters: Pick<ClusterManager, 'get'>;
  readonly settings: RedisHostSettings;
  readonly version: RespVersion;
  readonly secretText: IamParts['secretText'];
}

export class RedisPool {
  readonly #name: string;
  readonly #parts: RedisPoolParts;
  readonly #stats: ClusterCommandStats;
  readonly #clients = new Map<UpstreamHost, RedisClient>();
  /** Hosts that are not the cluster's, by address. */
  readonly #unknown = new Map<string, UpstreamHost>();
  readonly #rates = new WeakMap<UpstreamHost, ConnectionRate>();
  /** What the present choice of a host is made by. */
  #key = '';
  readonly #balance: BalanceContext = {
    requestHeaders: NO_HEADERS,
    maxHostDraws: 0,
    refusesHost: () => false,
    computeHash: () => hashOfKey(this.#key),
  };

  constructor(name: string, stats: ClusterCommandStats, parts: RedisPoolParts) {
    this.#name = name;
    this.#stats = stats;
    this.#parts = parts;
  }

  /** Undefined: there is no host for it. */
  send(
    key: string,
    words: readonly string[],
    callbacks: CommandCallbacks,
  ): CommandHandle | undefined {
    const host = this.#hostFor(key);
    return host && this.sendTo(host, words, callbacks);
  }

  sendTo(
    host: UpstreamHost,
    words: readonly string[],
    callbacks: CommandCallbacks,
  ): CommandHandle | undefined {
    const client = this.#clientOf(host);
    if (client === undefined) return undefined;
    if (!this.#parts.settings.followsRedirections) return client.send(words, callbacks);
    return new PoolRequest(client, words, callbacks, (address) => this.#clientAt(address));
  }

  /** A copy whose answer nobody waits for. */
  mirror(key: string, words: readonly string[]): void {
    const host = this.#hostFor(key);
    if (host !== undefined) this.mirrorTo(host, words);
  }

  mirrorTo(host: UpstreamHost, words: readonly string[]): void {
    const client = this.#clientOf(host);
    if (client === undefined || client.backlogBytes > MIRROR_BACKLOG_BYTES_MAX) return;
    client.send(words, undefined);
  }

  /** A connection for one client alone, whose end its owner is told of. */
  openOwn(key: string, onLeave: (client: RedisClient) => void): RedisClient | undefined {
    const cluster = this.#cluster;
    const host = this.#hostFor(key);
    return cluster && host && this.#open(cluster, host, onLeave);
  }

  /** Each once: those that may be asked, or all where none may. */
  shards(): readonly UpstreamHost[] {
    const hosts = this.#cluster?.hosts ?? [];
    const usable = hosts.filter(({ health }) => health !== 'unhealthy');
    return usable.length > 0 ? usable : hosts;
  }

  /** Everything ends at once. */
  close(): void {
    for (const client of Array.from(this.#clients.values())) client.close();
    this.#stats.release();
  }

  get #cluster(): UpstreamCluster | undefined {
    return this.#parts.clusters.get(this.#name);
  }

  #hostFor(key: string): UpstreamHost | undefined {
    this.#key = this.#parts.settings.usesHashTags ? hashTagOf(key) : key;
    return this.#cluster?.chooseHost(this.#balance);
  }

  #clientOf(host: UpstreamHost): RedisClient | undefined {
    const present = this.#clients.get(host);
    if (present !== undefined) return present;
    const cluster = host.home ?? this.#cluster;
    if (cluster === undefined || !this.#mayOpen(host, cluster)) return undefined;
    const client = this.#open(cluster, host, () => this.#forget(host, client));
    this.#clients.set(host, client);
    return client;
  }

  #open(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    onLeave: (client: RedisClient) => void,
  ): RedisClient {
    const { settings, version, secretText } = this.#parts;
    const stats = this.#stats;
    return new RedisClient({ cluster, host, settings, version, secretText, stats, onLeave });
  }

  #forget(host: UpstreamHost, client: RedisClient): void {
    if (this.#clients.get(host) !== client) return;
    this.#clients.delete(host);
    if (this.#unknown.get(host.address) !== host) return;
    this.#unknown.delete(host.address);
    host.drain();
  }

  #mayOpen(host: UpstreamHost, cluster: UpstreamCluster): boolean {
    const perSecond = this.#parts.settings.connectionsPerSecond;
    if (perSecond === undefined) return true;
    let rate = this.#rates.get(host);
    if (rate === undefined) {
      rate = new ConnectionRate(perSecond, cluster.loop.clock.ms);
      this.#rates.set(host, rate);
    }
    if (rate.take(cluster.loop.clock.ms)) return true;
    this.#stats.count('connection_rate_limited');
    return false;
  }

  /** The client of a host that an answer names. */
  #clientAt(address: string): RedisClient | undefined {
    const cluster = this.#cluster;
    const place = placeOf(address);
    if (cluster === undefined || place === undefined) return undefined;
    const id = hostIdOf(place);
    const known = cluster.hosts.find((host) => host.address === id) ?? this.#unknown.get(id);
    if (known !== undefined) return this.#clientOf(known);
    if (this.#unknown.size >= this.#parts.settings.unknownConnectionsMax) {
      this.#stats.count('max_upstream_unknown_connections_reached');
      return undefined;
    }
    const host = unknownHost(cluster, id, place);
    const client = this.#clientOf(host);
    if (client === undefined) host.drain();
    else this.#unknown.set(id, host);
    return client;
  }
}

interface Place {
  readonly ip: string;
  readonly port: number;
}

/** The place that `address:port` names; names are not looked up. */
function placeOf(address: string): Place | undefined {
  const colon = address.lastIndexOf(':');
  const port = address.slice(colon + 1);
  const ip = address.slice(0, Math.max(0, colon)).replace(/^\[(.*)\]$/, '$1');
  if (isIP(ip) === 0 || !/^\d{1,5}$/.test(port) || Number(port) > 65_535) return undefined;
  return { ip, port: Number(port) };
}

function hostIdOf({ ip, port }: Place): string {
  return isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** One that is not among the cluster's. */
function unknownHost(cluster: UpstreamCluster, id: string, { ip, port }: Place): UpstreamHost {
  const resource: HostResource = {
    id,
    address: { kind: 'ip', address: ip, port },
    hostname: '',
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
  };
  const host = new UpstreamHost(resource, cluster.name, cluster.stats.writer, new ActiveRequests());
  host.home = cluster;
  return host;
}
