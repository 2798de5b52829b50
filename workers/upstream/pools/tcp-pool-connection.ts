/**
 * One connection to a host that carries the bytes of one client and then ends: connecting, idle (made
 * ahead), busy or closed. What the host sends before anybody has the connection is kept for who gets
 * it. Owns its transport and timers; which client it carries is the pool's decision.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import { socketAddress } from '../../net/addresses.ts';
import { connectErrorText } from '../../net/connect-errors.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';
import type { Transport, TransportHandler } from '../../net/transport.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import { type ClosingSide, ConnectionAccount, connectFailureOf } from './connection-account.ts';
import { nextUpstreamConnectionId } from './connection-ids.ts';
import type {
  ConnectionPool,
  PooledConnection,
  PoolProtocol,
  PoolWaiter,
} from './connection-pool.ts';
import { openUpstream } from '../../upstream-transport/upstream-transport.ts';

const CX_CONNECT_TIMEOUT = CLUSTER.index.upstream_cx_connect_timeout;
const CX_IDLE_TIMEOUT = CLUSTER.index.upstream_cx_idle_timeout;
const CX_MAX_REQUESTS = CLUSTER.index.upstream_cx_max_requests;

const TIMER_CONNECT = 0;
const TIMER_IDLE = 1;

/** What a connection keeps of what its host sends first; the rest waits in the kernel. */
const KEPT_BYTES_MAX = 16 * 1024;

/** Who has a connection, or waits for one. */
export interface TcpPoolClient extends PoolWaiter {
  /** May be called before `newStream` returns. */
  onPoolReady(connection: TcpPoolConnection): void;
  /** Valid during the call only. */
  onData(input: Buffer, start: number, end: number): void;
  /** The host sends nothing more. */
  onRemoteEnd(): void;
  onWriteBlocked(blocked: boolean): void;
  /** Nothing follows; `error` when it broke, `isAbandoned` when this side gave it up. */
  onConnectionEnd(error: NodeJS.ErrnoException | undefined, isAbandoned: boolean): void;
}

export type TcpPool = ConnectionPool<TcpPoolClient>;

export const TCP_POOLS: PoolProtocol<TcpPoolClient> = {
  connect: (pool) => new TcpPoolConnection(pool),
  limitsRequests: false,
  closesExcess: true,
};

type State = 'connecting' | 'idle' | 'busy' | 'closed';

export class TcpPoolConnection
  implements PooledConnection<TcpPoolClient>, TransportHandler, TimerOwner
{
  readonly id = nextUpstreamConnectionId();
  readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
  private readonly pool: TcpPool;
  private readonly account: ConnectionAccount;
  private readonly connectTimer = new LoopTimer(this, TIMER_CONNECT);
  private readonly idleTimer = new LoopTimer(this, TIMER_IDLE);
  private state: State = 'connecting';
  private client: TcpPoolClient | undefined = undefined;
  /** Which side's end came last: it is who closed the connection. */
  private lastEnd: ClosingSide = 'remote';
  private kept: Buffer = EMPTY;
  private keepsNoMore = false;

  constructor(pool: TcpPool) {
    const { cluster, host, users } = pool;
    this.pool = pool;
    this.account = new ConnectionAccount(cluster, host);
    const triedNextAddress = (): void => this.account.countAddress();
    const wishes = { host, client: users.client, triedNextAddress };
    const { transport, tls } = openUpstream(cluster, wishes, this, this.account.counters);
    transport.keepHalfOpen();
    this.transport = transport;
    this.tls = tls;
    this.account.opened();
    cluster.loop.timers.list(cluster.resource.connectTimeoutMs).arm(this.connectTimer);
  }

  get openedMs(): number {
    return this.account.openedMs;
  }

  get connectedMs(): number {
    return this.account.connectedMs;
  }

  get localAddress(): Address | undefined {
    const { addresses } = this.transport;
    return socketAddress(addresses.localAddress, addresses.localPort);
  }

  startIdling(): void {
    this.state = 'idle';
    const { loop, resource } = this.pool.cluster;
    if (resource.tcpIdleTimeoutMs > 0)
      loop.timers.list(resource.tcpIdleTimeoutMs).arm(this.idleTimer);
  }

  begin(client: TcpPoolClient): void {
    this.idleTimer.disarm();
    this.state = 'busy';
    this.client = client;
    if (this.pool.cluster.resource.maxRequestsPerConnection === 1) this.count(CX_MAX_REQUESTS);
    client.onPoolReady(this);
    this.handOverKept();
  }

  /** Sends what is left and then the end of this direction. */
  endWriting(): void {
    this.lastEnd = 'local';
    this.transport.endWriting();
  }

  /** The client wants it no more, and hears no more. */
  leave(): void {
    this.client = undefined;
    this.end('local');
  }

  close(): void {
    const { client } = this;
    this.leave();
    client?.onConnectionEnd(undefined, true);
  }

  onConnect(): void {
    this.connectTimer.disarm();
    this.account.connected();
    this.pool.onConnected(this);
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.client !== undefined) this.client.onData(input, start, end);
    else this.keep(input.subarray(start, end));
  }

  onRemoteEnd(): void {
    this.lastEnd = 'remote';
    if (this.client !== undefined) this.client.onRemoteEnd();
    else this.end('remote');
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.state === 'connecting') {
      this.failConnect(connectFailureOf(error), error);
      return;
    }
    const { client } = this;
    this.end(error === undefined ? this.lastEnd : 'remote');
    client?.onConnectionEnd(error, false);
  }

  onWriteBlocked(blocked: boolean): void {
    this.client?.onWriteBlocked(blocked);
  }

  onException(): void {
    this.close();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_IDLE) {
      this.count(CX_IDLE_TIMEOUT);
      this.end('local');
      return;
    }
    this.count(CX_CONNECT_TIMEOUT);
    this.failConnect('connection_timeout', undefined);
  }

  private failConnect(reason: ResetReason, error: NodeJS.ErrnoException | undefined): void {
    const { pool } = this;
    this.account.failed(error);
    this.finish(reason === 'connection_timeout' ? 'local' : 'remote', false);
    const detail = error === undefined ? '' : connectErrorText(error, pool.host.address);
    pool.onConnectFailure(this, reason, detail);
    pool.onConnectionGone(this);
    this.account.letGo();
  }

  private end(how: ClosingSide): void {
    const { pool, state } = this;
    if (state === 'closed') return;
    this.finish(how, state === 'busy');
    if (state === 'busy') pool.onStreamEnd();
    pool.onConnectionGone(this);
    this.account.letGo();
  }

  private finish(how: ClosingSide, wasBusy: boolean): void {
    this.state = 'closed';
    this.connectTimer.disarm();
    this.idleTimer.disarm();
    this.transport.close();
    this.letGoOfKept();
    this.account.closed(how, wasBusy);
  }

  /** A host that speaks first: its greeting is for whoever gets the connection. */
  private keep(piece: Buffer): void {
    this.kept = Buffer.concat([this.kept, piece]);
    this.pool.cluster.loop.held.add(piece.length);
    if (this.keepsNoMore || this.kept.length < KEPT_BYTES_MAX) return;
    this.keepsNoMore = true;
    this.transport.pauseReading(true);
  }

  private handOverKept(): void {
    const kept = this.letGoOfKept();
    if (kept.length > 0) this.client?.onData(kept, 0, kept.length);
    if (!this.keepsNoMore) return;
    this.keepsNoMore = false;
    this.transport.pauseReading(false);
  }

  private letGoOfKept(): Buffer {
    const { kept } = this;
    this.kept = EMPTY;
    this.pool.cluster.loop.held.add(-kept.length);
    return kept;
  }

  private count(offset: number): void {
    const { writer, base } = this.pool.cluster.stats;
    writer.increment(base + offset);
  }
}

const EMPTY = Buffer.alloc(0);
