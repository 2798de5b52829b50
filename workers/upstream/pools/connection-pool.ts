/**
 * The way to one host for one priority: requests get a connection that has room for them, or wait
 * in the queue while the supply makes one. Knows no protocol: how much a connection can carry is
 * the connection's own word.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { Priority } from '../cluster-limits.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { ResourceLimits } from '../resource-limits.ts';
import { ConnectionSupply, type SuppliedConnection } from './connection-supply.ts';
import { needsConnection, type PoolLoad, type PreconnectedPool } from './pool-load.ts';
import { EVERYBODY, type PoolUsers } from './pool-users.ts';
import { type PoolWaiter, RequestQueue } from './request-queue.ts';

const CX_POOL_OVERFLOW = CLUSTER.index.upstream_cx_pool_overflow;
const RQ_TOTAL = CLUSTER.index.upstream_rq_total;
const RQ_ACTIVE = CLUSTER.index.upstream_rq_active;
const RQ_ACTIVE_OVERFLOW = CLUSTER.index.upstream_rq_active_overflow;

/** A connection as its pool uses it. */
export interface PoolConnection<Waiter> extends SuppliedConnection<PoolConnection<Waiter>> {
  /** Requests that it carries now. */
  readonly openStreams: number;
  /** It may carry a request, and nobody has one. */
  startIdling(): void;
  /** Counts a request as carried; only called with room. */
  take(): void;
  /** Carries the request that was counted. */
  begin(waiter: Waiter): void;
}

/** What pools of one protocol have in common. */
export interface PoolProtocol<Waiter extends PoolWaiter<Waiter>> {
  connect(pool: ConnectionPool<Waiter>): PoolConnection<Waiter>;
  /** `max_requests` and `max_connection_pools` hold; requests count in any case. */
  readonly limitsRequests: boolean;
  /** Who takes back a request that waits needs no connection that is being made for it, either. */
  readonly closesExcess: boolean;
}

export interface KeyedPool extends PoolUsers {
  /** The pool has no connection left. */
  readonly onEmpty: (pool: unknown) => void;
}

export interface PoolPlace {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly priority: Priority;
}

export class ConnectionPool<Waiter extends PoolWaiter<Waiter>> implements PreconnectedPool {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly limits: ResourceLimits;
  readonly #protocol: PoolProtocol<Waiter>;
  readonly #own: KeyedPool | undefined;
  readonly #queue: RequestQueue<Waiter>;
  readonly #supply: ConnectionSupply<PoolConnection<Waiter>>;
  readonly #load = (): PoolLoad => this.load;
  #active = 0;
  #isDraining = false;
  #isCounted = false;

  constructor(
    protocol: PoolProtocol<Waiter>,
    { cluster, host, priority }: PoolPlace,
    own?: KeyedPool,
  ) {
    this.#protocol = protocol;
    this.#own = own;
    this.cluster = cluster;
    this.host = host;
    this.limits = cluster.limits[priority];
    this.#queue = new RequestQueue(cluster, host, this.limits);
    const place = { cluster, host, priority, limits: this.limits };
    this.#supply = new ConnectionSupply(place, () => protocol.connect(this));
  }

  get users(): PoolUsers {
    return this.#own ?? EVERYBODY;
  }

  get load(): PoolLoad {
    return { pending: this.#queue.size, active: this.#active, capacity: this.#supply.room };
  }

  newStream(waiter: Waiter): void {
    const connection = this.#supply.ready();
    if (connection !== undefined) {
      this.#attach(connection, waiter);
      this.#supply.connectAsNeeded(this.#load);
      return;
    }
    if (this.cluster.refusesConnection()) {
      waiter.onPoolFailure('overflow', '', false);
      return;
    }
    if (!this.#countPool()) {
      const { writer, base } = this.cluster.stats;
      writer.increment(base + CX_POOL_OVERFLOW);
      waiter.onPoolFailure('no_pool', '', false);
      return;
    }
    if (!this.#queue.add(waiter)) {
      waiter.onPoolFailure('overflow', '', false);
      return;
    }
    this.#supply.connectAsNeeded(this.#load);
  }

  preconnect(ratio: number): boolean {
    if (this.#isDraining || this.host.health !== 'healthy') return false;
    return needsConnection(this.load, ratio, 1) && this.#supply.tryConnect();
  }

  cancel(waiter: Waiter): void {
    if (!this.#queue.cancel(waiter)) return;
    if (this.#protocol.closesExcess) this.#supply.closeExcess(this.load);
  }

  /** No more connections for new requests; idle ones close, others when they are idle. */
  drain(): void {
    this.#isDraining = true;
    for (const connection of this.#supply.readyOnes()) {
      if (connection.openStreams === 0) connection.close();
    }
  }

  close(): void {
    this.#isDraining = true;
    // Who waits would have a connection made in the place of each that ends.
    this.#queue.failAll('local_reset', '');
    for (const connection of this.#supply.all()) connection.close();
  }

  /** A connection stands: it may carry requests. */
  onConnected(connection: PoolConnection<Waiter>): void {
    this.#supply.connected(connection);
    this.#useRoom(connection);
  }

  /** The connection can take a request more than before, or another number of them. */
  onRoom(connection: PoolConnection<Waiter>): void {
    this.#supply.roomChanged(connection);
    this.#useRoom(connection);
  }

  /** A connection could not be made: whatever waited for it fails with it. */
  onConnectFailure(connection: PoolConnection<Waiter>, reason: ResetReason, detail: string): void {
    this.#supply.failed(connection);
    this.#queue.failAll(reason, detail);
  }

  onConnectionGone(connection: PoolConnection<Waiter>): void {
    this.#supply.gone(connection);
    if (this.#supply.size === 0 && this.#queue.size === 0) {
      this.#uncountPool();
      this.#own?.onEmpty(this);
    } else if (this.#queue.size > 0) {
      this.#supply.connectAsNeeded(this.#load);
    }
  }

  /** A request is over; the connection says by `onRoom` when it can take another. */
  onStreamEnd(): void {
    const { writer, base } = this.cluster.stats;
    this.#active--;
    writer.subtract(base + RQ_ACTIVE, 1);
    this.host.requestEnded();
    this.limits.close('requests');
  }

  #attach(connection: PoolConnection<Waiter>, waiter: Waiter): void {
    const { writer, base } = this.cluster.stats;
    if (!this.#protocol.limitsRequests) this.limits.open('requests');
    else if (!this.limits.tryOpen('requests')) {
      writer.increment(base + RQ_ACTIVE_OVERFLOW);
      waiter.onPoolFailure('overflow', '', true);
      return;
    }
    this.#active++;
    writer.increment(base + RQ_TOTAL);
    writer.add(base + RQ_ACTIVE, 1);
    this.host.requestBegan();
    connection.take();
    this.#supply.roomChanged(connection);
    try {
      connection.begin(waiter);
    } catch (error) {
      this.#giveUp(connection);
      throw error;
    }
  }

  /** Whether it carries something cannot be known any more. */
  #giveUp(connection: PoolConnection<Waiter>): void {
    try {
      connection.close();
    } catch (error) {
      this.cluster.loop.note(error);
    }
  }

  #useRoom(connection: PoolConnection<Waiter>): void {
    if (connection.openStreams === 0) connection.startIdling();
    if (this.#queue.size > 0) this.#servePending();
    if (this.#isDraining) this.drain();
  }

  #servePending(): void {
    for (let left = this.#queue.size; left > 0; left--) {
      const connection = this.#supply.ready();
      if (connection === undefined) break;
      const waiter = this.#queue.shift();
      if (waiter === undefined) return;
      this.#attach(connection, waiter);
    }
    if (this.#queue.size > 0) this.#supply.connectAsNeeded(this.#load);
  }

  #countPool(): boolean {
    if (this.#isCounted || !this.#protocol.limitsRequests) return true;
    this.#isCounted = this.limits.tryOpen('pools');
    return this.#isCounted;
  }

  #uncountPool(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    this.limits.close('pools');
  }
}
