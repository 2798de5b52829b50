/**
 * One host of a cluster as this worker sees it: its address, its figures, its connection pools. A
 * host lives as long as the cluster lists it; requests in flight outlive that.
 */
import type { HostHealth, HostResource } from '../../../shared/resources/clusters/cluster.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { addressOf } from '../../../shared/addresses/host-address.ts';
import { HOST } from '../../../shared/stats/templates/cluster.ts';
import type { OutlierMonitor } from './outlier-monitor.ts';
import type { UpstreamHostInfo } from '../../stream/stream-info.ts';
import type { ActiveRequests } from './active-requests.ts';
import type { UpstreamCluster } from '../cluster.ts';
import { ipOf, portOf } from '../../stream/host-info.ts';
import type { HttpPool } from '../pools/http-pool.ts';
import type { TcpPool } from '../pools/tcp-pool-connection.ts';
import type { ResourceLimits } from '../resource-limits.ts';
import type { ReportedUse } from '../balancing/load-aware-localities.ts';
import type { ReportedLoad } from '../balancing/reported-weights.ts';
import { Retained } from './retained.ts';

const { rq_total: RQ_TOTAL, rq_active: RQ_ACTIVE, rq_timed: TIMED, rq_took_ms: TOOK } = HOST.index;

interface Pools {
  DEFAULT: HttpPool | undefined;
  HIGH: HttpPool | undefined;
}

/** A connection that no pool keeps. */
export interface HostUser {
  /** The host was taken out of its cluster. */
  drain(): void;
  /** Everything ends at once. */
  close(): void;
}

export class UpstreamHost implements UpstreamHostInfo {
  resource: HostResource;
  readonly id: string;
  readonly #stats: StatWriter;
  readonly #clusterName: string;
  readonly active: ActiveRequests;
  /** Where this host is counted there. */
  readonly activeSlot: number;
  #hasSlot = true;
  #statBase: number | undefined = undefined;
  #retained: Retained | undefined = undefined;
  #isDrained = false;
  /** The number of the last set that it was in; see host-set.ts. */
  round = 0;
  /** The cluster that the host is in: not the one that chose it, where that is made of several. */
  home: UpstreamCluster | undefined = undefined;
  /** Monotonic milliseconds; undefined where hosts have their whole weight from the beginning. */
  readySinceMs: number | undefined = undefined;
  /** Undefined where nobody watches for outliers. */
  outlier: OutlierMonitor | undefined = undefined;
  /** What it reports of its load, where the balancer goes by that. */
  reportedLoad: ReportedLoad | undefined = undefined;
  /** Likewise, where the balancer goes by how busy localities are. */
  reportedUse: ReportedUse | undefined = undefined;
  /** The limits of this host alone, where the cluster limits the connections of each. */
  connectionLimits: Readonly<Record<'DEFAULT' | 'HIGH', ResourceLimits>> | undefined = undefined;
  /** Streams that it said it takes on one connection of HTTP/2; undefined: it has not. */
  maxStreams: number | undefined = undefined;
  /** Whether it chose HTTP/2 when it was last asked by ALPN. */
  spokeHttp2 = false;
  #pools: Pools | undefined = undefined;
  #keyedPools: Map<string, HttpPool> | undefined = undefined;
  #tcpPools: Map<string, TcpPool> | undefined = undefined;
  #users: Set<HostUser> | undefined = undefined;

  /** `active` is that of all hosts of the cluster. */
  constructor(
    resource: HostResource,
    clusterName: string,
    stats: StatWriter,
    active: ActiveRequests,
  ) {
    this.resource = resource;
    this.readySinceMs = resource.readySinceMs;
    this.id = resource.id;
    this.#stats = stats;
    this.#clusterName = clusterName;
    this.active = active;
    this.activeSlot = active.take();
  }

  /** Held by every connection and request of the host. */
  get retained(): Retained {
    if (this.#retained === undefined) {
      this.#retained = new Retained(() => this.#releaseStats());
      if (this.#isDrained) this.#retained.end();
    }
    return this.#retained;
  }

  /** It was taken out of its cluster. */
  get isDrained(): boolean {
    return this.#isDrained;
  }

  /** By priority; each is made on first use. */
  get pools(): Pools {
    return (this.#pools ??= { DEFAULT: undefined, HIGH: undefined });
  }

  /**
   * Base of the host's block of figures, made on first use: most hosts of a large set have none.
   */
  get statBase(): number {
    this.#statBase ??= this.#stats.defineBlock(HOST, `host.${this.#clusterName}.${this.id}.`);
    return this.#statBase;
  }

  /** A response that was passed on came whole. */
  countTime(tookMs: number): void {
    this.#stats.increment(this.statBase + TIMED);
    if (tookMs > 0) this.#stats.add(this.statBase + TOOK, tookMs);
  }

  /**
   * Where a connection serves certain requests alone: by what they share, each while it has some.
   */
  get keyedPools(): Map<string, HttpPool> {
    return (this.#keyedPools ??= new Map());
  }

  /**
   * Those of TCP proxies: by what their clients share, '' for everybody's; each while it has
   * connections.
   */
  get tcpPools(): Map<string, TcpPool> {
    return (this.#tcpPools ??= new Map());
  }

  /** Requests that this worker has open there. */
  get activeRequests(): number {
    return this.active.of(this.activeSlot);
  }

  requestBegan(): void {
    this.active.add(this.activeSlot, 1);
    this.#stats.increment(this.statBase + RQ_TOTAL);
    this.#stats.add(this.statBase + RQ_ACTIVE, 1);
  }

  requestEnded(): void {
    this.active.add(this.activeSlot, -1);
    this.#stats.subtract(this.statBase + RQ_ACTIVE, 1);
  }

  get address(): string {
    return addressOf(this.resource);
  }

  /** A logical host's address changes. */
  get ip(): string {
    return ipOf(this.resource);
  }

  get port(): number {
    return portOf(this.resource);
  }

  get hostname(): string {
    return this.resource.hostname;
  }

  get region(): string {
    return this.resource.region;
  }

  get zone(): string {
    return this.resource.zone;
  }

  get subZone(): string {
    return this.resource.subZone;
  }

  get metadata(): HostResource['metadata'] {
    return this.resource.metadata;
  }

  get health(): HostHealth {
    return this.resource.health;
  }

  get weight(): number {
    return this.resource.weight;
  }

  get priority(): number {
    return this.resource.priority;
  }

  /** Tells it of the host's end. */
  attach(user: HostUser): void {
    (this.#users ??= new Set()).add(user);
  }

  detach(user: HostUser): void {
    this.#users?.delete(user);
  }

  allPools(): readonly (HttpPool | TcpPool)[] {
    return [...this.#httpPools(), ...(this.#tcpPools?.values() ?? [])];
  }

  /** Counts one more connection when the host and its cluster may have one. */
  tryOpenConnection(cluster: ResourceLimits, priority: 'DEFAULT' | 'HIGH'): boolean {
    const own = this.connectionLimits?.[priority];
    if (own?.tryOpen('connections') === false) return false;
    if (cluster.tryOpen('connections')) return true;
    own?.close('connections');
    return false;
  }

  /** Counts one more connection beyond all limits. */
  openConnection(cluster: ResourceLimits, priority: 'DEFAULT' | 'HIGH'): void {
    this.connectionLimits?.[priority].open('connections');
    cluster.open('connections');
  }

  closeConnection(cluster: ResourceLimits, priority: 'DEFAULT' | 'HIGH'): void {
    this.connectionLimits?.[priority].close('connections');
    cluster.close('connections');
  }

  /**
   * The host was taken out of its cluster: idle connections close, busy ones after their request.
   */
  drain(): void {
    for (const pool of this.allPools()) pool.drain();
    for (const user of Array.from(this.#users ?? [])) user.drain();
    if (this.#isDrained) return;
    this.#isDrained = true;
    if (this.#retained === undefined) this.#releaseStats();
    else this.#retained.end();
  }

  /** Later requests get connections of their own; the present ones end with their request. */
  renewPools(): void {
    for (const pool of this.allPools()) pool.drain();
    this.#keyedPools?.clear();
    this.#tcpPools?.clear();
    this.#pools = undefined;
  }

  /** Ends everything at once. */
  close(): void {
    for (const pool of this.allPools()) pool.close();
    for (const user of Array.from(this.#users ?? [])) user.close();
  }

  /** Ends what TCP proxies have open there. */
  closeProxied(): void {
    for (const pool of Array.from(this.#tcpPools?.values() ?? [])) pool.close();
  }

  #httpPools(): readonly HttpPool[] {
    const shared = [this.#pools?.DEFAULT, this.#pools?.HIGH].filter((pool) => pool !== undefined);
    const keyed = this.#keyedPools;
    return keyed === undefined ? shared : [...shared, ...keyed.values()];
  }

  #releaseStats(): void {
    if (this.#statBase !== undefined) this.#stats.releaseBlock(this.#statBase);
    this.#statBase = undefined;
    this.#giveBackSlot();
  }

  /** What holds the host has ended: nothing counts there any more. */
  #giveBackSlot(): void {
    if (this.#hasSlot) this.active.giveBack(this.activeSlot);
    this.#hasSlot = false;
  }
}
