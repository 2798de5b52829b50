/**
 * The HTTP/1 connections to one host for one priority: hands idle ones out, opens new ones as requests
 * wait, within the cluster's limits. One connection carries one request at a time.
 */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../http/codec.ts';
import type { Priority } from './cluster-limits.ts';
import type { UpstreamCluster } from './cluster.ts';
import type { UpstreamHost } from './host.ts';
import { Http1PoolConnection } from './http1-pool-connection.ts';
import { EVERYBODY, type PoolUsers } from './pool-users.ts';
import { type HttpPool, needsConnection, type PoolClient, type PoolLoad } from './http-pool.ts';
import type { ResourceLimits } from './resource-limits.ts';

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

interface KeyedPool extends PoolUsers {
  /** The pool has no connection left. */
  readonly onEmpty: () => void;
}

export class Http1Pool implements HttpPool {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly limits: ResourceLimits;
  private readonly priority: Priority;
  private readonly own: KeyedPool | undefined;
  private readonly ready: Http1PoolConnection[] = [];
  private readonly all = new Set<Http1PoolConnection>();
  private readonly pending = new Set<PoolClient>();
  private connecting = 0;
  private isDraining = false;
  private isCounted = false;

  constructor(cluster: UpstreamCluster, host: UpstreamHost, priority: Priority, own?: KeyedPool) {
    this.own = own;
    this.cluster = cluster;
    this.host = host;
    this.priority = priority;
    this.limits = cluster.limits[priority];
  }

  get users(): PoolUsers {
    return this.own ?? EVERYBODY;
  }

  newStream(client: PoolClient): void {
    const connection = this.ready.pop();
    if (connection !== undefined) {
      this.attach(connection, client);
      this.connectAsNeeded();
      return;
    }
    if (this.cluster.refusesConnection()) {
      client.onPoolFailure('overflow', '', false);
      return;
    }
    const { writer, base } = this.cluster.stats;
    if (!this.countPool()) {
      writer.increment(base + CX_POOL_OVERFLOW);
      client.onPoolFailure('no_pool', '', false);
      return;
    }
    if (!this.limits.tryOpen('pendingRequests')) {
      writer.increment(base + RQ_PENDING_OVERFLOW);
      client.onPoolFailure('overflow', '', false);
      return;
    }
    writer.increment(base + RQ_PENDING_TOTAL);
    writer.add(base + RQ_PENDING_ACTIVE, 1);
    writer.add(this.host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.pending.add(client);
    this.connectAsNeeded();
  }

  get load(): PoolLoad {
    const capacity = this.connecting + this.ready.length;
    return { pending: this.pending.size, active: this.all.size - capacity, capacity };
  }

  preconnect(ratio: number): boolean {
    if (this.isDraining || this.host.health === 'unhealthy') return false;
    return needsConnection(this.load, ratio, 1) && this.tryConnect();
  }

  cancel(client: PoolClient): void {
    if (!this.takePending(client)) return;
    const { writer, base } = this.cluster.stats;
    writer.increment(base + RQ_CANCELLED);
  }

  drain(): void {
    this.isDraining = true;
    for (const connection of this.ready.splice(0)) connection.close();
  }

  close(): void {
    this.isDraining = true;
    this.ready.length = 0;
    for (const connection of this.all) connection.close();
  }

  /** A connection may carry a request: a new one, or one that has finished its last. */
  onConnectionReady(connection: Http1PoolConnection, wasConnecting: boolean): void {
    if (wasConnecting) this.connecting--;
    this.ready.push(connection);
    connection.startIdling();
    if (this.pending.size > 0) this.servePending();
    if (this.isDraining) this.drain();
  }

  /** A connection could not be made: whatever waited for it fails with it. */
  onConnectFailure(reason: ResetReason, detail: string): void {
    this.connecting--;
    const { writer, base } = this.cluster.stats;
    // A failed request may come back at once as another try, which is not this connection's.
    for (const client of Array.from(this.pending)) {
      this.takePending(client);
      writer.increment(base + RQ_PENDING_FAILURE_EJECT);
      client.onPoolFailure(reason, detail, true);
    }
  }

  onConnectionGone(connection: Http1PoolConnection): void {
    this.all.delete(connection);
    this.host.closeConnection(this.limits, this.priority);
    const at = this.ready.lastIndexOf(connection);
    if (at >= 0) this.ready.splice(at, 1);
    if (this.all.size === 0 && this.pending.size === 0) {
      this.uncountPool();
      this.own?.onEmpty();
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

  private attach(connection: Http1PoolConnection, client: PoolClient): void {
    const { writer, base } = this.cluster.stats;
    if (!this.limits.tryOpen('requests')) {
      writer.increment(base + RQ_ACTIVE_OVERFLOW);
      this.ready.push(connection);
      client.onPoolFailure('overflow', '', true);
      return;
    }
    writer.increment(base + RQ_TOTAL);
    writer.add(base + RQ_ACTIVE, 1);
    this.host.requestBegan();
    connection.begin(client);
  }

  private servePending(): void {
    for (const client of this.pending) {
      const connection = this.ready.pop();
      if (connection === undefined) break;
      this.takePending(client);
      this.attach(connection, client);
    }
    if (this.pending.size > 0) this.connectAsNeeded();
  }

  private takePending(client: PoolClient): boolean {
    if (!this.pending.delete(client)) return false;
    const { writer, base } = this.cluster.stats;
    writer.subtract(base + RQ_PENDING_ACTIVE, 1);
    writer.subtract(this.host.statBase + HOST_RQ_PENDING_ACTIVE, 1);
    this.limits.close('pendingRequests');
    return true;
  }

  private connectAsNeeded(): void {
    const { preconnect } = this.cluster.resource;
    const isAhead = preconnect !== undefined && this.host.health !== 'unhealthy';
    const ratio = isAhead ? preconnect.perHost : 1;
    for (let made = 0; made < CONNECTIONS_AT_ONCE; made++) {
      if (!needsConnection(this.load, ratio, 0) || !this.tryConnect()) return;
    }
  }

  private tryConnect(): boolean {
    if (!this.host.tryOpenConnection(this.limits, this.priority)) {
      const { writer, base } = this.cluster.stats;
      writer.increment(base + CX_OVERFLOW);
      // Other hosts may hold all connections; without one of its own this host would never answer.
      if (this.all.size > 0) return false;
      this.host.openConnection(this.limits, this.priority);
    }
    this.connecting++;
    this.all.add(new Http1PoolConnection(this));
    return true;
  }

  private countPool(): boolean {
    if (this.isCounted) return true;
    this.isCounted = this.limits.tryOpen('pools');
    return this.isCounted;
  }

  private uncountPool(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.limits.close('pools');
  }
}
