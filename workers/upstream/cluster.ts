/** One cluster in this worker: configuration, hosts, balancer, limits and statistics. */
import { findPolicy } from '../../shared/resources/clusters/lb-policy.ts';
import type net from 'node:net';
import type {
  ClusterHostsResource,
  ClusterResource,
  HostResource,
} from '../../shared/resources/clusters/cluster.ts';
import type { SentHostSet } from '../../shared/resources/resource-update.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import type { HealthChecker } from '../health/health-checker.ts';
import { RedisAccount } from './hosts/redis-account.ts';
import { UpstreamSockets } from '../upstream-transport/upstream-sockets.ts';
import type { FilterFactory } from '../stream/filter.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { SlicedWork } from '../loop/sliced-work.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { InternalTarget } from '../upstream-transport/upstream-transport.ts';
import { ClusterStats } from './cluster-stats.ts';
import { keptNamesOf } from './pools/kept-names.ts';
import type { UpstreamHost } from './hosts/host.ts';
import { HostKeeper } from './hosts/host-keeper.ts';
import { hasteOf, HostSet, type HealthChange } from './hosts/host-set.ts';
import { ClusterPools, type PoolWish } from './pools/cluster-pools.ts';
import type { HttpPool } from './pools/http-pool.ts';
import type { TcpPool } from './pools/tcp-pool-connection.ts';
import { mayBeNamed } from './balancing/override-status.ts';
import type { Preconnecting } from './pools/preconnecting.ts';
import type { MemberCluster } from './balancing/aggregate-balancer.ts';
import type { BalanceContext, LoadBalancer } from './balancing/load-balancer.ts';
import type { RequestedHosts } from './named-hosts/requested-hosts.ts';
import { makeClusterBalancer } from './cluster-balancer.ts';
import type { WantedHosts } from './named-hosts/wanted-hosts.ts';
import type { LocalCluster } from './balancing/zone-picker.ts';
import type { ReportedLoadTeller } from './load-reports/reported-load-teller.ts';
import { Retained } from './hosts/retained.ts';
import type { SharedLimits } from './resource-limits.ts';
import type { AttemptFilterSet, ClusterContext } from './cluster-context.ts';
import { makeChecker, makeLoadTeller, makePreconnecting } from './optional-parts.ts';
import { ClusterLimits, type Priority } from './cluster-limits.ts';
import { HashTableStats } from './hashing/hash-table-stats.ts';

const LB_HEALTHY_PANIC = CLUSTER.index.lb_healthy_panic;

export class UpstreamCluster implements LocalCluster, MemberCluster {
  readonly name: string;
  readonly stats: ClusterStats;
  readonly sockets: UpstreamSockets;
  /** Held by every connection and request of the cluster. */
  readonly retained: Retained;
  readonly limits: Readonly<Record<Priority, SharedLimits>>;
  readonly #context: ClusterContext;
  readonly #balancer: LoadBalancer;
  readonly #checker: HealthChecker | undefined;
  /** Undefined: weights are those of the configuration. */
  readonly #loadTeller: ReportedLoadTeller | undefined;
  /** Undefined: connections come with requests. */
  readonly #preconnecting: Preconnecting | undefined;
  readonly #limits: ClusterLimits;
  readonly #keeper: HostKeeper;
  readonly #pools = new ClusterPools(this, () => this.#beginTraffic());
  #hasTraffic = false;
  readonly #requested: RequestedHosts | undefined;
  /** Where requests wait for their hosts, when hosts are the names that requests carry. */
  readonly wantedHosts: WantedHosts | undefined;
  readonly #tableStats: HashTableStats;
  readonly #attemptFilters: AttemptFilterSet | undefined;
  resource: ClusterResource;
  readonly #work: SlicedWork;
  readonly #set: HostSet;

  constructor(resource: ClusterResource, context: ClusterContext) {
    this.resource = resource;
    this.name = resource.name;
    this.#context = context;
    this.stats = new ClusterStats(resource, context.stats);
    this.sockets = new UpstreamSockets(resource, { ...context, statOwner: this.stats.prefix });
    this.#limits = new ClusterLimits(resource, context);
    this.#keeper = new HostKeeper(this, context);
    this.limits = this.#limits.byPriority;
    this.#tableStats = new HashTableStats(this.stats, {
      isRing: findPolicy(resource.lbPolicy, 'ring_hash') !== undefined,
      // All workers have the same table: one of them tells of it.
      tells: context.duty.workerIndex === 0,
    });
    const { balancer, requested, wantedHosts } = makeClusterBalancer({
      cluster: this,
      context,
      tableStats: this.#tableStats,
      makeHost: (host) => this.#keeper.keepOrMake(undefined, host),
    });
    this.#balancer = balancer;
    this.#requested = requested;
    this.wantedHosts = wantedHosts;
    this.#preconnecting = makePreconnecting(this, balancer);
    this.#loadTeller = makeLoadTeller(this, context);
    this.#checker = makeChecker(this, context, () => this.#hasTraffic);
    this.#attemptFilters =
      resource.upstreamHttp.filters && context.makeAttemptFilters(resource, this.stats.prefix);
    this.#work = new SlicedWork(context.loop);
    this.#set = this.#makeHostSet();
    this.retained = new Retained(() => this.#release());
  }

  get loop(): WorkerLoop {
    return this.#context.loop;
  }

  get hosts(): readonly UpstreamHost[] {
    return this.#set.hosts;
  }

  /** What attempts pass before the codec; undefined: what the router says. */
  get attemptFilters(): readonly FilterFactory[] | undefined {
    return this.#attemptFilters?.factories;
  }

  /** Checks that count as its traffic. */
  checkStats({ id }: HostResource): RedisAccount | undefined {
    const host = this.#set.find(id);
    if (host === undefined) return undefined;
    this.#beginTraffic();
    return new RedisAccount(this.stats.writer, this.stats.base, host);
  }

  /** A host told what its weight follows from. */
  loadNoted(host: UpstreamHost): void {
    this.#loadTeller?.noted(host);
  }

  /** In percent. */
  get overprovisioningFactor(): number {
    return this.#set.overprovisioningFactor;
  }

  /** Requests that get an answer instead of a host: 0 to 1. */
  get dropShare(): number {
    return this.#set.dropOverload?.share ?? 0;
  }

  /** Another number after each change of the hosts or their health. */
  get version(): number {
    return this.#set.version;
  }

  /** An overload keeps one more connection from being opened. */
  refusesConnection(): boolean {
    return this.#context.overload.sheds('connection_pool_new_connection');
  }

  connectInside(to: InternalTarget): net.Socket {
    return this.#context.connectInside(to);
  }

  chooseHost(context: BalanceContext): UpstreamHost | undefined {
    const { overrideHost } = context;
    if (overrideHost !== undefined) {
      const wanted = this.#set.find(overrideHost.address);
      const { namedHostStatuses } = this.resource;
      if (wanted !== undefined && mayBeNamed(wanted.resource, namedHostStatuses)) return wanted;
      if (overrideHost.isStrict) return undefined;
    }
    for (let draw = 0; ; draw++) {
      const host = this.#preconnecting?.take() ?? this.#balancer.choose(context, draw);
      if (this.#balancer.isPanicking) {
        this.stats.writer.increment(this.stats.base + LB_HEALTHY_PANIC);
      }
      if (host === undefined || draw >= context.maxHostDraws || !context.refusesHost(host)) {
        return host;
      }
    }
  }

  /** A pool for a request that is about to begin there. */
  poolOf(host: UpstreamHost, priority: Priority, whom: PoolWish): HttpPool {
    const pool = this.#pools.http(host, priority, whom);
    this.#preconnecting?.connectAhead((next) => this.#pools.http(next, priority, whom));
    return pool;
  }

  /** Likewise, for a client whose bytes go there as they are. */
  tcpPoolOf(host: UpstreamHost, client: ConnectionInfo, shared?: PoolWish['shared']): TcpPool {
    const whom = { client, names: keptNamesOf(client), shared };
    const pool = this.#pools.tcp(host, whom);
    this.#preconnecting?.connectAhead((next) => this.#pools.tcp(next, whom));
    return pool;
  }

  /** There are active checks. */
  get isChecked(): boolean {
    return this.#checker !== undefined;
  }

  /** An ordinary answer said that the host's checks fail. */
  failPassively(host: UpstreamHost): void {
    this.#checker?.failPassively(host.resource);
  }

  /** How many hosts there are, and how many of them may be asked. */
  health(): { readonly total: number; readonly usable: number } {
    return { total: this.hosts.length, usable: this.#set.usable };
  }

  /** Replaces the host set; hosts that stay keep their connections and figures. */
  putHosts(update: SentHostSet): void {
    this.#set.put(update, false);
  }

  /** Resolves when the cluster has its first hosts; undefined: it does not wait for any. */
  get firstHosts(): Promise<void> | undefined {
    return this.hosts.length === 0 ? this.#work.settled : undefined;
  }

  /**
   * Begins with the hosts of the version of the cluster that this one replaces. Returns what to
   * wait for before they are there.
   */
  adoptHostsOf(earlier: UpstreamCluster): Promise<void> | undefined {
    const { overprovisioningFactor, dropOverload } = earlier.#set;
    const hosts = earlier.hosts.map((host) => host.resource);
    const drop = dropOverload === undefined ? {} : { dropOverload };
    this.#set.put({ cluster: this.name, hosts, overprovisioningFactor, ...drop }, false);
    return this.firstHosts;
  }

  /** With hosts that a request waits for. */
  putHostsNow(update: ClusterHostsResource): void {
    this.#set.put(update, true);
  }

  /** The workers that share active checks are others. */
  shareChecks(): void {
    const checker = this.#checker;
    if (checker === undefined) return;
    this.#work.add(hasteOf(this.hosts.length), () => checker.share());
  }

  /** The cluster is gone: what is in flight may end. */
  drain(): void {
    this.wantedHosts?.end();
    this.#loadTeller?.close();
    this.#work.close();
    this.#checker?.close();
    for (const host of this.hosts) host.drain();
    this.retained.end();
  }

  close(): void {
    this.#loadTeller?.close();
    this.#work.close();
    this.#checker?.close();
    for (const host of this.hosts) host.close();
  }

  /** Applies what other sources know of some hosts' health. */
  putHealth(changes: readonly HealthChange[]): void {
    this.#set.putHealth(changes);
  }

  #beginTraffic(): void {
    if (this.#hasTraffic) return;
    this.#hasTraffic = true;
    if (this.#checker !== undefined) this.#context.trafficBegan(this.name);
  }

  #makeHostSet(): HostSet {
    const checker = this.#checker;
    return new HostSet({
      work: this.#work,
      balancer: this.#balancer,
      keepOrMake: (known, resource) => {
        const host = this.#keeper.keepOrMake(known, resource);
        this.#keeper.watch(host);
        this.#limits.limitConnections(host);
        return host;
      },
      join: (hosts) => this.#requested?.join(hosts) ?? hosts,
      replaced: (update) => {
        this.#limits.bind(update);
        if (update.hasTraffic === true) this.#hasTraffic = true;
      },
      othersChanged:
        this.resource.renewsPoolsWithHosts === true ? () => this.#renewPools() : undefined,
      follow: checker && ((update) => checker.putHosts(update)),
      healthNoted: (id, bits) => this.#checker?.noteBits(id, bits),
    });
  }

  #renewPools(): void {
    for (const host of this.hosts) host.renewPools();
  }

  #release(): void {
    this.sockets.release();
    this.stats.release();
    this.#tableStats.release();
    this.#attemptFilters?.release();
    this.#balancer.release?.();
  }
}
