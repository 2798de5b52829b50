/**
 * One HTTP/1 connection to a host: connecting, idle, carrying a request or closing. Owns its transport,
 * codec and timers, and counts its life; which request it carries is the pool's decision.
 */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import type { Http1ClientOptions } from '../../shared/resources/cluster.ts';
import type { ResetReason } from '../http/codec.ts';
import { Http1ClientCodec, type Http1ClientOwner } from '../http/http1/client-codec.ts';
import type { Address, TlsInfo } from '../net/connection-info.ts';
import type { Protocol } from '../http/stream-info.ts';
import { socketAddress } from '../net/addresses.ts';
import { connectErrorText, isLocalConnectError } from '../net/connect-errors.ts';
import type { Transport, TransportHandler } from '../net/transport.ts';
import { LoopTimer, type TimerOwner } from '../timers.ts';
import { nextUpstreamConnectionId } from './connection-ids.ts';
import type { Http1Pool } from './http1-pool.ts';
import type { PoolClient, UpstreamConnectionFacts } from './http-pool.ts';
import { openUpstream } from './upstream-transport.ts';

const CX_TOTAL = CLUSTER.index.upstream_cx_total;
const CX_ACTIVE = CLUSTER.index.upstream_cx_active;
const CX_HTTP1_TOTAL = CLUSTER.index.upstream_cx_http1_total;
const CX_CONNECT_FAIL = CLUSTER.index.upstream_cx_connect_fail;
const CX_CONNECT_TIMEOUT = CLUSTER.index.upstream_cx_connect_timeout;
const CX_CONNECT_MS = CLUSTER.index.upstream_cx_connect_ms;
const CX_LENGTH_MS = CLUSTER.index.upstream_cx_length_ms;
const CX_DESTROY = CLUSTER.index.upstream_cx_destroy;
const CX_DESTROY_LOCAL = CLUSTER.index.upstream_cx_destroy_local;
const CX_DESTROY_LOCAL_ACTIVE = CLUSTER.index.upstream_cx_destroy_local_with_active_rq;
const CX_DESTROY_REMOTE = CLUSTER.index.upstream_cx_destroy_remote;
const CX_DESTROY_REMOTE_ACTIVE = CLUSTER.index.upstream_cx_destroy_remote_with_active_rq;
const CX_DESTROY_ACTIVE = CLUSTER.index.upstream_cx_destroy_with_active_rq;
const CX_CLOSE_NOTIFY = CLUSTER.index.upstream_cx_close_notify;
const CX_IDLE_TIMEOUT = CLUSTER.index.upstream_cx_idle_timeout;
const CX_MAX_REQUESTS = CLUSTER.index.upstream_cx_max_requests;
const CX_MAX_DURATION = CLUSTER.index.upstream_cx_max_duration_reached;
const CX_PROTOCOL_ERROR = CLUSTER.index.upstream_cx_protocol_error;
const RQ_PER_CX = CLUSTER.index.upstream_rq_per_cx;
const RX_TOTAL = CLUSTER.index.upstream_cx_rx_bytes_total;
const RX_BUFFERED = CLUSTER.index.upstream_cx_rx_bytes_buffered;
const TX_TOTAL = CLUSTER.index.upstream_cx_tx_bytes_total;
const HOST_CX_TOTAL = HOST.index.cx_total;
const HOST_CX_ACTIVE = HOST.index.cx_active;
const HOST_CX_CONNECT_FAIL = HOST.index.cx_connect_fail;

const BIND_ERRORS = CLUSTER.index.bind_errors;

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
  implements TransportHandler, Http1ClientOwner, TimerOwner, UpstreamConnectionFacts
{
  readonly id: number;
  readonly protocol: Protocol = 'HTTP/1.1';
  requests = 0;
  private readonly pool: Http1Pool;
  private readonly transport: Transport;
  readonly tls: TlsInfo | undefined;
  private readonly codec: Http1ClientCodec;
  readonly openedMs: number;
  connectedMs = -1;
  private readonly connectTimer = new LoopTimer(this, TIMER_CONNECT);
  private readonly idleTimer = new LoopTimer(this, TIMER_IDLE);
  private readonly durationTimer = new LoopTimer(this, TIMER_MAX_DURATION);
  private state: State = 'connecting';
  /** The present request is the last. */
  private isLast = false;
  private knownLocalAddress: Address | undefined = undefined;

  constructor(pool: Http1Pool) {
    this.pool = pool;
    const { cluster, host } = pool;
    const { loop, resource, stats } = cluster;
    this.id = nextUpstreamConnectionId();
    this.openedMs = loop.clock.ms;
    cluster.retained.hold();
    host.retained.hold();
    const triedNextAddress = (): void => this.countAddress();
    const { transport, tls } = openUpstream(
      cluster,
      { host, ...pool.users, triedNextAddress },
      this,
      {
        stats: stats.writer,
        received: stats.base + RX_TOTAL,
        waiting: stats.base + RX_BUFFERED,
        sent: stats.base + TX_TOTAL,
      },
    );
    this.transport = transport;
    this.tls = tls;
    this.codec = new Http1ClientCodec(this.transport, this, {
      maxHeaderBytes: resource.upstreamHttp.maxResponseHeadersKb * 1024,
      maxHeaderCount: resource.upstreamHttp.maxHeadersCount,
      ...(resource.upstreamHttp.http1 ?? PLAIN_HTTP1),
    });
    this.countOpen();
    loop.timers.list(resource.connectTimeoutMs).arm(this.connectTimer);
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
    this.connectedMs = cluster.loop.clock.ms;
    cluster.stats.writer.record(
      cluster.stats.base + CX_CONNECT_MS,
      Math.round(this.connectedMs - this.openedMs),
    );
    const { maxConnectionDurationMs } = cluster.resource.upstreamHttp;
    if (maxConnectionDurationMs !== undefined && maxConnectionDurationMs > 0) {
      cluster.loop.timers.list(maxConnectionDurationMs).arm(this.durationTimer);
    }
    this.state = 'idle';
    this.pool.onConnectionReady(this, true);
  }

  onData(input: Buffer, start: number, end: number): void {
    this.codec.onData(input, start, end);
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.state === 'connecting') this.failConnect(connectFailure(error), error);
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
    else this.pool.onConnectionReady(this, false);
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
    const { cluster, host } = this.pool;
    this.count(CX_CONNECT_FAIL);
    cluster.stats.writer.increment(host.statBase + HOST_CX_CONNECT_FAIL);
    if (error?.syscall === 'bind') this.count(BIND_ERRORS);
    const how = reason === 'connection_failure' ? 'remote' : 'local';
    this.finish(how, false);
    this.pool.onConnectFailure(
      reason,
      error === undefined ? '' : connectErrorText(error, host.address),
    );
    this.pool.onConnectionGone(this);
    this.letGo();
  }

  private closeIdle(): void {
    this.end('local', 'local_reset');
  }

  private end(how: 'local' | 'remote', reason: ResetReason, isOrderly = false): void {
    if (this.state === 'closed') return;
    const wasConnecting = this.state === 'connecting';
    const wasBusy = this.codec.isBusy || this.state === 'busy';
    this.finish(how, wasBusy);
    if (wasBusy) this.pool.onStreamEnd();
    if (isOrderly && this.codec.isInsideBody) this.count(CX_PROTOCOL_ERROR);
    this.codec.onTransportClosed(reason, isOrderly);
    if (wasConnecting) this.pool.onConnectFailure(reason, '');
    this.pool.onConnectionGone(this);
    this.letGo();
  }

  private finish(how: 'local' | 'remote', wasBusy: boolean): void {
    const { cluster, host } = this.pool;
    const { writer, base } = cluster.stats;
    this.state = 'closed';
    this.connectTimer.disarm();
    this.idleTimer.disarm();
    this.durationTimer.disarm();
    this.transport.close();
    this.count(CX_DESTROY);
    this.count(how === 'local' ? CX_DESTROY_LOCAL : CX_DESTROY_REMOTE);
    if (wasBusy) {
      this.count(CX_DESTROY_ACTIVE);
      this.count(how === 'local' ? CX_DESTROY_LOCAL_ACTIVE : CX_DESTROY_REMOTE_ACTIVE);
    }
    writer.subtract(base + CX_ACTIVE, 1);
    writer.subtract(host.statBase + HOST_CX_ACTIVE, 1);
    writer.record(base + CX_LENGTH_MS, Math.round(cluster.loop.clock.ms - this.openedMs));
    if (this.connectedMs >= 0) writer.record(base + RQ_PER_CX, this.requests);
  }

  private letGo(): void {
    this.pool.cluster.retained.letGo();
    this.pool.host.retained.letGo();
  }

  /** Each address that is tried counts as a connection. */
  private countAddress(): void {
    const { cluster, host } = this.pool;
    this.count(CX_TOTAL);
    cluster.stats.writer.increment(host.statBase + HOST_CX_TOTAL);
  }

  private countOpen(): void {
    const { cluster, host } = this.pool;
    const { writer, base } = cluster.stats;
    cluster.stats.useHttp1();
    this.countAddress();
    this.count(CX_HTTP1_TOTAL);
    writer.add(base + CX_ACTIVE, 1);
    writer.add(host.statBase + HOST_CX_ACTIVE, 1);
  }

  private count(offset: number): void {
    const { writer, base } = this.pool.cluster.stats;
    writer.increment(base + offset);
  }
}

function connectFailure(error: NodeJS.ErrnoException | undefined): ResetReason {
  const isLocal = error !== undefined && isLocalConnectError(error);
  return isLocal ? 'local_connection_failure' : 'connection_failure';
}
