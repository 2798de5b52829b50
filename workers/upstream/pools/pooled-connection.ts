/**
 * One connection to a host as far as every protocol is alike: connecting, ready or closed, with its
 * transport, its timers, the account of its life and its single end. What it carries is the
 * subclass's; which requests it carries is the pool's decision.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import { socketAddress } from '../../net/addresses.ts';
import { connectErrorText } from '../../net/connection-errors.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';
import type { TransportHandler } from '../../net/byte-stream.ts';
import type { Transport } from '../../net/transport.ts';
import type { ResetReason } from '../../stream/codec.ts';
import { openUpstream } from '../../upstream-transport/upstream-transport.ts';
import { type ClosingSide, ConnectionAccount, connectFailureOf } from './connection-account.ts';
import type { ConnectionFacts } from './connection-facts.ts';
import { nextUpstreamConnectionId } from './connection-ids.ts';
import type { ConnectionPool, PoolConnection } from './connection-pool.ts';
import type { PoolWaiter } from './request-queue.ts';

const CX_CONNECT_TIMEOUT = CLUSTER.index.upstream_cx_connect_timeout;
const CX_IDLE_TIMEOUT = CLUSTER.index.upstream_cx_idle_timeout;
const CX_MAX_REQUESTS = CLUSTER.index.upstream_cx_max_requests;
const CX_MAX_DURATION = CLUSTER.index.upstream_cx_max_duration_reached;

const TIMER_CONNECT = 0;
const TIMER_IDLE = 1;
const TIMER_MAX_DURATION = 2;

/** What the protocol of a connection is configured with. */
export interface ConnectionLimits {
  /** Requests that it carries at the same time. */
  readonly capacity: number;
  /** 0: idle connections stay. */
  readonly idleTimeoutMs: number;
  /** 0: a connection lasts as long as it is used. */
  readonly maxDurationMs: number;
  /** What TLS offers where its own configuration names no protocol; absent: nothing. */
  readonly alpn?: readonly string[];
}

export abstract class PooledConnection<Waiter extends PoolWaiter<Waiter>>
  implements PoolConnection<Waiter>, TransportHandler, TimerOwner, ConnectionFacts
{
  readonly id = nextUpstreamConnectionId();
  readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
  readonly account: ConnectionAccount;
  /** Requests that it has carried, open ones included. */
  requests = 0;
  openStreams = 0;
  countedRoom = 0;
  isPending = false;
  next: PoolConnection<Waiter> | undefined = undefined;
  previous: PoolConnection<Waiter> | undefined = undefined;
  protected readonly pool: ConnectionPool<Waiter>;
  #capacity: number;
  readonly #limits: ConnectionLimits;
  readonly #connectTimer = new LoopTimer(this, TIMER_CONNECT);
  readonly #idleTimer = new LoopTimer(this, TIMER_IDLE);
  readonly #durationTimer = new LoopTimer(this, TIMER_MAX_DURATION);
  #state: 'connecting' | 'ready' | 'closed' = 'connecting';
  /** It takes no further request. */
  #isLast = false;
  #localAddress: Address | undefined = undefined;

  constructor(pool: ConnectionPool<Waiter>, limits: ConnectionLimits) {
    const { cluster, host, users } = pool;
    this.pool = pool;
    this.#limits = limits;
    this.#capacity = limits.capacity;
    this.account = new ConnectionAccount(cluster, host);
    const triedNextAddress = (): void => this.account.countAddress();
    const { transport, tls } = openUpstream(
      cluster,
      { host, ...users, triedNextAddress, alpn: limits.alpn },
      this,
      this.account.counters,
    );
    this.transport = transport;
    this.tls = tls;
    this.account.opened();
    cluster.loop.timers.list(cluster.resource.connectTimeoutMs).arm(this.#connectTimer);
  }

  get room(): number {
    if (this.#isLast || this.#state === 'closed') return 0;
    return Math.max(0, Math.min(this.#capacity - this.openStreams, this.#requestsLeft()));
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  get openedMs(): number {
    return this.account.openedMs;
  }

  get connectedMs(): number {
    return this.account.connectedMs;
  }

  get localAddress(): Address | undefined {
    const { addresses } = this.transport;
    this.#localAddress ??= socketAddress(addresses.localAddress, addresses.localPort);
    return this.#localAddress;
  }

  take(): void {
    if (this.openStreams++ === 0) this.#idleTimer.disarm();
    this.requests++;
    if (this.#requestsLeft() > 0) return;
    if (!this.#isLast) this.count(CX_MAX_REQUESTS);
    this.#isLast = true;
  }

  abstract begin(waiter: Waiter): void;

  startIdling(): void {
    const { idleTimeoutMs } = this.#limits;
    if (idleTimeoutMs > 0) this.pool.cluster.loop.timers.list(idleTimeoutMs).arm(this.#idleTimer);
  }

  /** Closes from this side; what it carries is told. */
  close(): void {
    this.end('local', 'local_reset');
  }

  /** Takes no further request and closes with the last that is open. */
  closeWhenIdle(): void {
    if (this.#state === 'closed') return;
    this.#isLast = true;
    if (this.openStreams === 0) this.close();
    else this.pool.onRoom(this);
  }

  onConnect(): void {
    this.#connectTimer.disarm();
    this.account.connected();
    const { maxDurationMs } = this.#limits;
    if (maxDurationMs > 0) {
      this.pool.cluster.loop.timers.list(maxDurationMs).arm(this.#durationTimer);
    }
    this.#state = 'ready';
    this.pool.onConnected(this);
  }

  abstract onData(input: Buffer, start: number, end: number): void;
  abstract onWriteBlocked(blocked: boolean): void;

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.#state === 'connecting') this.#failConnect(connectFailureOf(error), error);
    else this.endRemotely(error);
  }

  onException(): void {
    this.close();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_CONNECT) {
      this.count(CX_CONNECT_TIMEOUT);
      this.#failConnect('connection_timeout', undefined);
    } else if (kind === TIMER_IDLE) {
      this.count(CX_IDLE_TIMEOUT);
      this.close();
    } else {
      this.count(CX_MAX_DURATION);
      this.closeWhenIdle();
    }
  }

  /** The host has closed the connection, which stood; `error` when it broke. */
  protected abstract endRemotely(error: NodeJS.ErrnoException | undefined): void;

  /** The connection is over for its pool; what it carried hears of it now. */
  protected abstract onEnd(reason: ResetReason, isOrderly: boolean): void;

  /** A request is over; the connection closes or may take another. */
  streamEnded(isReusable: boolean): void {
    this.openStreams--;
    this.pool.onStreamEnd();
    if (!isReusable) this.#isLast = true;
    if (this.#isLast && this.openStreams === 0) this.close();
    else this.pool.onRoom(this);
  }

  /** The host's word on how many requests it takes at the same time. */
  changeCapacity(capacity: number): void {
    this.#capacity = capacity;
    if (this.#state === 'ready') this.pool.onRoom(this);
  }

  /** Once: everything of the connection ends. */
  end(how: ClosingSide, reason: ResetReason, isOrderly = false): void {
    if (this.#state === 'closed') return;
    const wasConnecting = this.#state === 'connecting';
    const streams = this.openStreams;
    this.#finish(how, streams > 0 && !this.resetsFor(reason));
    for (let left = streams; left > 0; left--) this.pool.onStreamEnd();
    this.openStreams = 0;
    try {
      this.onEnd(reason, isOrderly);
      if (wasConnecting) this.pool.onConnectFailure(this, reason, '');
    } finally {
      this.pool.onConnectionGone(this);
      this.account.letGo();
    }
  }

  count(offset: number): void {
    const { writer, base } = this.pool.cluster.stats;
    writer.increment(base + offset);
  }

  /** Requests count as reset, not as lost with their connection. */
  protected resetsFor(_reason: ResetReason): boolean {
    return false;
  }

  #requestsLeft(): number {
    const most = this.pool.cluster.resource.maxRequestsPerConnection;
    return most === undefined ? Number.POSITIVE_INFINITY : most - this.requests;
  }

  #failConnect(reason: ResetReason, error: NodeJS.ErrnoException | undefined): void {
    const { pool } = this;
    this.account.failed(error);
    this.#finish(reason === 'connection_failure' ? 'remote' : 'local', false);
    try {
      const detail = error === undefined ? '' : connectErrorText(error, pool.host.address);
      pool.onConnectFailure(this, reason, detail);
    } finally {
      pool.onConnectionGone(this);
      this.account.letGo();
    }
  }

  #finish(how: ClosingSide, wasBusy: boolean): void {
    this.#state = 'closed';
    for (const timer of [this.#connectTimer, this.#idleTimer, this.#durationTimer]) timer.disarm();
    this.transport.close();
    this.account.closed(how, wasBusy);
  }
}
