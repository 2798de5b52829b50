/**
 * The connections to one host that carry one request at a time, for one priority: hands ready ones out,
 * opens new ones as requests wait, and ahead of them where the cluster wants it, within the cluster's
 * limits. What a request is, the protocol's connections know.
 */
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { Priority } from '../cluster-limits.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { needsConnection, type PoolLoad, type PreconnectedPool } from './pool-load.ts';
import { EVERYBODY, type PoolUsers } from './pool-users.ts';
import type { ResourceLimits } from '../resource-limits.ts';

const CX_OVERFLOW = CLUSTER.index.upstream_cx_overflow;
const CX_POOL_OVERFLOW = CLUSTER.index.upstream_cx_pool_overflow;
const RQ_TOTAL = CLUSTER.index.upstream_rq_total;
const RQ_ACTIVE = CLUSTER.index.upstream_rq_active;
const RQ_PENDING_TOTAL = CLUSTER.index.upstream_rq_pending_total;
const RQ_PENDING_ACTIVE = CLUSTER.index.upstream_rq_pending_active;
const RQ_PENDING_OVERFLOW = CLUSTER.index.upstream_rq_pending_overflow;
const RQ_ACTIVE_OVERFLOW = CLUSTER.index.upstream_rq_active_overflow;
const RQ_PENDING_FAILURE_EJECT = CLUSTER.index.upstream_rq_pending_failure_eject;
const RQ_CANCELLED = CLUSTER.index.upstream_rq_cancelled;
const HOST_RQ_PENDING_ACTIVE = HOST.index.rq_pending_active;

/** Connections that one event may begin. */
const CONNECTIONS_AT_ONCE = 3;

/** What waits for a connection. */
export interface PoolWaiter {
  /**
   * `detail` is the operating system's word, empty when there is none. `triedHost` is false when a
   * limit refused the request before the host was involved.
   */
  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void;
}

export interface PooledConnection<Waiter> {
  /** It may carry a request, and nobody has one. */
  startIdling(): void;
  /** Carries a request; the connection is idle and no longer among the pool's ready ones. */
  begin(waiter: Waiter): void;
  /** Closes from this side; what it carries is told. */
  close(): void;
}

/** What pools of one protocol have in common. */
export interface PoolProtocol<Waiter extends PoolWaiter> {
  connect(pool: ConnectionPool<Waiter>): PooledConnection<Waiter>;
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

export class ConnectionPool<Waiter extends PoolWaiter> implements PreconnectedPool {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly limits: ResourceLimits;
  private readonly protocol: PoolProtocol<Waiter>;
  private readonly priority: Priority;
  private readonly own: KeyedPool | undefined;
  private readonly ready: PooledConnection<Waiter>[] = [];
  private readonly connecting = new Set<PooledConnection<Waiter>>();
  private readonly all = new Set<PooledConnection<Waiter>>();
  private readonly pending = new Set<Waiter>();
  private isDraining = false;
  private isCounted = false;

  constructor(
    protocol: PoolProtocol<Waiter>,
    { cluster, host, priority }: PoolPlace,
    own?: KeyedPool,
  ) {
    this.protocol = protocol;
    this.own = own;
    this.cluster = cluster;
    this.host = host;
    this.priority = priority;
    this.limits = cluster.limits[priority];
  }

  get users(): PoolUsers {
    return this.own ?? EVERYBODY;
  }

  newStream(waiter: Waiter): void {
    const connection = this.ready.pop();
    if (connection !== undefined) {
      this.attach(connection, waiter);
      this.connectAsNeeded();
      return;
    }
    if (this.cluster.refusesConnection()) {
      waiter.onPoolFailure('overflow', '', false);
      return;
    }
    const { writer, base } = this.cluster.stats;
    if (!this.countPool()) {
      writer.increment(base + CX_POOL_OVERFLOW);
      waiter.onPoolFailure('no_pool', '', false);
      return;
    }
    if (!this.limits.tryOpen('pendingRequests')) {
      writer.increment(base + RQ_PENDING_OVERFLOW);
      waiter.onPoolFailure('overflow', '', false);
      return;
    }
    writer.increment(base + RQ_PENDING_TOTAL);
    writer.add(base + RQ_PENDING_ACTIVE, 1);
    writer.add(this.host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.pending.add(waiter);
    this.connectAsNeeded();
  }

  get load(): PoolLoad {
    const capacity = this.connecting.size + this.ready.length;
    return { pending: this.pending.size, active: this.all.size - capacity, capacity };
  }

  preconnect(ratio: number): boolean {
    if (this.isDraining || this.host.health !== 'healthy') return false;
    return needsConnection(this.load, ratio, 1) && this.tryConnect();
  }

  cancel(waiter: Waiter): void {
    if (!this.takePending(waiter)) return;
    const { writer, base } = this.cluster.stats;
    writer.increment(base + RQ_CANCELLED);
    if (this.protocol.closesExcess) this.closeExcess();
  }

  drain(): void {
    this.isDraining = true;
    for (const connection of this.ready.splice(0)) connection.close();
  }

  close(): void {
    this.isDraining = true;
    // Who waits would have a connection made in the place of each that ends.
    this.failPending('local_reset', '');
    this.ready.length = 0;
    for (const connection of Array.from(this.all)) connection.close();
  }

  onConnected(connection: PooledConnection<Waiter>): void {
    this.connecting.delete(connection);
    this.onConnectionReady(connection);
  }

  /** A connection may carry a request: a new one, or one that has finished its last. */
  onConnectionReady(connection: PooledConnection<Waiter>): void {
    this.ready.push(connection);
    connection.startIdling();
    if (this.pending.size > 0) this.servePending();
    if (this.isDraining) this.drain();
  }

  /** A connection could not be made: whatever waited for it fails with it. */
  onConnectFailure(
    connection: PooledConnection<Waiter>,
    reason: ResetReason,
    detail: string,
  ): void {
    this.connecting.delete(connection);
    this.failPending(reason, detail);
  }

  onConnectionGone(connection: PooledConnection<Waiter>): void {
    this.connecting.delete(connection);
    this.all.delete(connection);
    this.host.closeConnection(this.limits, this.priority);
    const at = this.ready.lastIndexOf(connection);
    if (at >= 0) this.ready.splice(at, 1);
    if (this.all.size === 0 && this.pending.size === 0) {
      this.uncountPool();
      this.own?.onEmpty(this);
    } else if (this.pending.size > 0) {
      this.connectAsNeeded();
    }
  }

  onStreamEnd(): void {
    const { writer, base } = this.cluster.stats;
    writer.subtract(base + RQ_ACTIVE, 1);
    this.host.requestEnded();
    this.limits.close('requests');
  }

  private attach(connection: PooledConnection<Waiter>, waiter: Waiter): void {
    const { writer, base } = this.cluster.stats;
    if (!this.protocol.limitsRequests) this.limits.open('requests');
    else if (!this.limits.tryOpen('requests')) {
      writer.increment(base + RQ_ACTIVE_OVERFLOW);
      this.ready.push(connection);
      waiter.onPoolFailure('overflow', '', true);
      return;
    }
    writer.increment(base + RQ_TOTAL);
    writer.add(base + RQ_ACTIVE, 1);
    this.host.requestBegan();
    try {
      connection.begin(waiter);
    } catch (error) {
      this.giveUp(connection);
      throw error;
    }
  }

  /** Whether it carries something cannot be known any more. */
  private giveUp(connection: PooledConnection<Waiter>): void {
    try {
      connection.close();
    } catch (error) {
      this.cluster.loop.note(error);
    }
  }

  private servePending(): void {
    for (const waiter of this.pending) {
      const connection = this.ready.pop();
      if (connection === undefined) break;
      this.takePending(waiter);
      this.attach(connection, waiter);
    }
    if (this.pending.size > 0) this.connectAsNeeded();
  }

  private failPending(reason: ResetReason, detail: string): void {
    const { writer, base } = this.cluster.stats;
    // A failed request may come back at once as another try, which is not this connection's.
    for (const waiter of Array.from(this.pending)) {
      this.takePending(waiter);
      writer.increment(base + RQ_PENDING_FAILURE_EJECT);
      waiter.onPoolFailure(reason, detail, true);
    }
  }

  private takePending(waiter: Waiter): boolean {
    if (!this.pending.delete(waiter)) return false;
    const { writer, base } = this.cluster.stats;
    writer.subtract(base + RQ_PENDING_ACTIVE, 1);
    writer.subtract(this.host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.limits.close('pendingRequests');
    return true;
  }

  private connectAsNeeded(): void {
    const { ratioAhead } = this;
    for (let made = 0; made < CONNECTIONS_AT_ONCE; made++) {
      if (!needsConnection(this.load, ratioAhead, 0) || !this.tryConnect()) return;
    }
  }

  private get ratioAhead(): number {
    const { preconnect } = this.cluster.resource;
    const isAhead = preconnect !== undefined && this.host.health === 'healthy';
    return isAhead ? preconnect.perHost : 1;
  }

  /** Closes the connection that began last, when the others that are being made do without it. */
  private closeExcess(): void {
    const latest = Array.from(this.connecting).at(-1);
    if (latest === undefined) return;
    const { pending, active } = this.load;
    const left = { pending, active, capacity: this.connecting.size - 1 };
    if (!needsConnection(left, this.ratioAhead, 0)) latest.close();
  }

  private tryConnect(): boolean {
    if (!this.host.tryOpenConnection(this.limits, this.priority)) {
      const { writer, base } = this.cluster.stats;
      writer.increment(base + CX_OVERFLOW);
      // Other hosts may hold all connections; without one of its own this host would never answer.
      if (this.all.size > 0) return false;
      this.host.openConnection(this.limits, this.priority);
    }
    const connection = this.protocol.connect(this);
    this.connecting.add(connection);
    this.all.add(connection);
    return true;
  }

  private countPool(): boolean {
    if (this.isCounted || !this.protocol.limitsRequests) return true;
    this.isCounted = this.limits.tryOpen('pools');
    return this.isCounted;
  }

  private uncountPool(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.limits.close('pools');
  }
}
