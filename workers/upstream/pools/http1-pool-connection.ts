/**
 * One HTTP/1 connection to a host: connecting, idle, carrying a request or closing. Owns its transport,
 * codec and timers, and counts its life; which request it carries is the pool's decision.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { Http1ClientOptions } from '../../../shared/resources/clusters/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import { Http1ClientCodec, type Http1ClientOwner } from '../../http1/client-codec.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';
import type { Protocol } from '../../stream/stream-info.ts';
import { socketAddress } from '../../net/addresses.ts';
import { connectErrorText } from '../../net/connect-errors.ts';
import type { Transport, TransportHandler } from '../../net/transport.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import { type ClosingSide, ConnectionAccount, connectFailureOf } from './connection-account.ts';
import { nextUpstreamConnectionId } from './connection-ids.ts';
import type { ConnectionPool, PooledConnection } from './connection-pool.ts';
import type { PoolClient, UpstreamConnectionFacts } from './http-pool.ts';
import { openUpstream } from '../../upstream-transport/upstream-transport.ts';

const CX_HTTP1_TOTAL = CLUSTER.index.upstream_cx_http1_total;
const CX_CONNECT_TIMEOUT = CLUSTER.index.upstream_cx_connect_timeout;
const CX_CLOSE_NOTIFY = CLUSTER.index.upstream_cx_close_notify;
const CX_IDLE_TIMEOUT = CLUSTER.index.upstream_cx_idle_timeout;
const CX_MAX_REQUESTS = CLUSTER.index.upstream_cx_max_requests;
const CX_MAX_DURATION = CLUSTER.index.upstream_cx_max_duration_reached;
const CX_PROTOCOL_ERROR = CLUSTER.index.upstream_cx_protocol_error;
const RQ_PER_CX = CLUSTER.index.upstream_rq_per_cx;

const TIMER_CONNECT = 0;
const TIMER_IDLE = 1;
const TIMER_MAX_DURATION = 2;

const PLAIN_HTTP1: Http1ClientOptions = {
  enableTrailers: false,
  allowChunkedLength: false,
  headerCase: 'lower',
};

type State = 'connecting' | 'idle' | 'busy' | 'closed';

export class Http1PoolConnection
  implements
    PooledConnection<PoolClient>,
    TransportHandler,
    Http1ClientOwner,
    TimerOwner,
    UpstreamConnectionFacts
{
  readonly id: number;
  readonly protocol: Protocol = 'HTTP/1.1';
  requests = 0;
  private readonly pool: ConnectionPool<PoolClient>;
  private readonly account: ConnectionAccount;
  private readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
  private readonly codec: Http1ClientCodec;
  private readonly connectTimer = new LoopTimer(this, TIMER_CONNECT);
  private readonly idleTimer = new LoopTimer(this, TIMER_IDLE);
  private readonly durationTimer = new LoopTimer(this, TIMER_MAX_DURATION);
  private state: State = 'connecting';
  /** The present request is the last. */
  private isLast = false;
  private knownLocalAddress: Address | undefined = undefined;

  constructor(pool: ConnectionPool<PoolClient>) {
    this.pool = pool;
    const { cluster, host } = pool;
    const { loop, resource } = cluster;
    this.id = nextUpstreamConnectionId();
    this.account = new ConnectionAccount(cluster, host);
    const triedNextAddress = (): void => this.account.countAddress();
    const { transport, tls } = openUpstream(
      cluster,
      { host, ...pool.users, triedNextAddress },
      this,
      this.account.counters,
    );
    this.transport = transport;
    this.tls = tls;
    this.codec = new Http1ClientCodec(this.transport, this, {
      maxHeaderBytes: resource.upstreamHttp.maxResponseHeadersKb * 1024,
      maxHeaderCount: resource.upstreamHttp.maxHeadersCount,
      isOwnRequest: false,
      ...(resource.upstreamHttp.http1 ?? PLAIN_HTTP1),
    });
    cluster.stats.useHttp1();
    this.account.opened();
    this.count(CX_HTTP1_TOTAL);
    loop.timers.list(resource.connectTimeoutMs).arm(this.connectTimer);
  }

  get openedMs(): number {
    return this.account.openedMs;
  }

  get connectedMs(): number {
    return this.account.connectedMs;
  }

  get localAddress(): Address | undefined {
    const { addresses } = this.transport;
    this.knownLocalAddress ??= socketAddress(addresses.localAddress, addresses.localPort);
    return this.knownLocalAddress;
  }

  get isAnswerChunked(): boolean {
    return this.codec.isChunked;
  }

  get headerBytesSent(): number {
    return this.codec.headerBytesSent;
  }

  get wireBytesSent(): number {
    return this.codec.wireBytesSent;
  }

  get headerBytesReceived(): number {
    return this.codec.headerBytesReceived;
  }

  get wireBytesReceived(): number {
    return this.codec.wireBytesReceived;
  }

  /** Carries a request; the connection is idle and no longer among the pool's ready ones. */
  begin(client: PoolClient): void {
    const { maxRequestsPerConnection } = this.pool.cluster.resource;
    this.idleTimer.disarm();
    this.state = 'busy';
    this.requests++;
    if (maxRequestsPerConnection !== undefined && this.requests >= maxRequestsPerConnection) {
      if (!this.isLast) this.count(CX_MAX_REQUESTS);
      this.isLast = true;
    }
    client.onPoolReady(this.codec.newStream(client), this);
  }

  startIdling(): void {
    this.state = 'idle';
    const { idleTimeoutMs } = this.pool.cluster.resource.upstreamHttp;
    if (idleTimeoutMs > 0) this.pool.cluster.loop.timers.list(idleTimeoutMs).arm(this.idleTimer);
  }

  /** Closes from this side; an open request is reset. */
  close(): void {
    this.end('local', 'local_reset');
  }

  onConnect(): void {
    const { cluster } = this.pool;
    this.connectTimer.disarm();
    this.account.connected();
    const { maxConnectionDurationMs } = cluster.resource.upstreamHttp;
    if (maxConnectionDurationMs !== undefined && maxConnectionDurationMs > 0) {
      cluster.loop.timers.list(maxConnectionDurationMs).arm(this.durationTimer);
    }
    this.state = 'idle';
    this.pool.onConnected(this);
  }

  onData(input: Buffer, start: number, end: number): void {
    this.codec.onData(input, start, end);
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.state === 'connecting') this.failConnect(connectFailureOf(error), error);
    else this.end('remote', 'connection_termination', error === undefined);
  }

  onWriteBlocked(blocked: boolean): void {
    this.codec.onWriteBlocked(blocked);
  }

  onExchangeDone(reusable: boolean): void {
    if (this.state === 'closed') return;
    this.pool.onStreamEnd();
    this.state = 'idle';
    if (!reusable || this.isLast) this.closeIdle();
    else this.pool.onConnectionReady(this);
  }

  onExchangeReset(): void {
    this.end('local', 'local_reset');
  }

  onProtocolError(): void {
    if (this.state === 'closed') return;
    this.count(CX_PROTOCOL_ERROR);
    this.end('local', 'protocol_error');
  }

  onCloseAnnounced(): void {
    this.count(CX_CLOSE_NOTIFY);
  }

  onException(): void {
    this.close();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_CONNECT) {
      this.count(CX_CONNECT_TIMEOUT);
      this.failConnect('connection_timeout', undefined);
    } else if (kind === TIMER_IDLE) {
      this.count(CX_IDLE_TIMEOUT);
      this.closeIdle();
    } else {
      this.count(CX_MAX_DURATION);
      if (this.state === 'busy') this.isLast = true;
      else this.closeIdle();
    }
  }

  private failConnect(reason: ResetReason, error: NodeJS.ErrnoException | undefined): void {
    const { host } = this.pool;
    this.account.failed(error);
    const how = reason === 'connection_failure' ? 'remote' : 'local';
    this.finish(how, false);
    try {
      const text = error === undefined ? '' : connectErrorText(error, host.address);
      this.pool.onConnectFailure(this, reason, text);
    } finally {
      this.pool.onConnectionGone(this);
      this.account.letGo();
    }
  }

  private closeIdle(): void {
    this.end('local', 'local_reset');
  }

  private end(how: ClosingSide, reason: ResetReason, isOrderly = false): void {
    if (this.state === 'closed') return;
    const wasConnecting = this.state === 'connecting';
    const wasBusy = this.codec.isBusy || this.state === 'busy';
    this.finish(how, wasBusy);
    if (wasBusy) this.pool.onStreamEnd();
    if (isOrderly && this.codec.isInsideBody) this.count(CX_PROTOCOL_ERROR);
    try {
      this.codec.onTransportClosed(reason, isOrderly);
      if (wasConnecting) this.pool.onConnectFailure(this, reason, '');
    } finally {
      this.pool.onConnectionGone(this);
      this.account.letGo();
    }
  }

  private finish(how: ClosingSide, wasBusy: boolean): void {
    const { writer, base } = this.pool.cluster.stats;
    this.state = 'closed';
    this.connectTimer.disarm();
    this.idleTimer.disarm();
    this.durationTimer.disarm();
    this.transport.close();
    this.account.closed(how, wasBusy);
    if (this.connectedMs >= 0) writer.record(base + RQ_PER_CX, this.requests);
  }

  private count(offset: number): void {
    const { writer, base } = this.pool.cluster.stats;
    writer.increment(base + offset);
  }
}
