/** A pooled connection that speaks HTTP/1: its codec, which carries one request at a time. */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { Http1ClientOptions } from '../../../shared/resources/clusters/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import { Http1ClientCodec, type Http1ClientOwner } from '../../http1/client-codec.ts';
import type { Protocol } from '../../stream/stream-info.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PoolClient, UpstreamConnectionInfo } from './http-pool.ts';
import { drawnDurationMs } from './drawn-duration.ts';
import { type ConnectionLimits, PooledConnection } from './pooled-connection.ts';

const CX_HTTP1_TOTAL = CLUSTER.index.upstream_cx_http1_total;
const CX_CLOSE_NOTIFY = CLUSTER.index.upstream_cx_close_notify;
const CX_PROTOCOL_ERROR = CLUSTER.index.upstream_cx_protocol_error;
const RQ_PER_CX = CLUSTER.index.upstream_rq_per_cx;

const PLAIN_HTTP1: Http1ClientOptions = {
  enableTrailers: false,
  allowChunkedLength: false,
  headerCase: 'lower',
};

/** As Envoy offers it to hosts over TLS. */
const ALPN: readonly string[] = ['http/1.1'];

export class Http1PoolConnection
  extends PooledConnection<PoolClient>
  implements Http1ClientOwner, UpstreamConnectionInfo
{
  readonly protocol: Protocol = 'HTTP/1.1';
  readonly #codec: Http1ClientCodec;

  /** `undecided`: of a connection whose host has yet to choose what it speaks. */
  constructor(
    pool: ConnectionPool<PoolClient>,
    undecided?: Pick<ConnectionLimits, 'capacity' | 'alpn'>,
  ) {
    const { upstreamHttp } = pool.cluster.resource;
    const { idleTimeoutMs } = upstreamHttp;
    const maxDurationMs = drawnDurationMs(pool.cluster.resource);
    super(pool, { capacity: 1, idleTimeoutMs, maxDurationMs, alpn: ALPN, ...undecided });
    this.#codec = new Http1ClientCodec(this.transport, this, {
      maxHeaderBytes: upstreamHttp.maxResponseHeadersKb * 1024,
      maxHeaderCount: upstreamHttp.maxHeadersCount,
      isOwnRequest: false,
      ...(upstreamHttp.http1 ?? PLAIN_HTTP1),
    });
    if (undecided === undefined) this.countProtocol();
  }

  get isAnswerChunked(): boolean {
    return this.#codec.isChunked;
  }

  get headerBytesSent(): number {
    return this.#codec.headerBytesSent;
  }

  get wireBytesSent(): number {
    return this.#codec.wireBytesSent;
  }

  get headerBytesReceived(): number {
    return this.#codec.headerBytesReceived;
  }

  get wireBytesReceived(): number {
    return this.#codec.wireBytesReceived;
  }

  begin(client: PoolClient): void {
    client.onPoolReady(this.#codec.newStream(client), this);
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#codec.onData(input, start, end);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#codec.onWriteBlocked(blocked);
  }

  protected countProtocol(): void {
    this.pool.cluster.stats.useHttp1();
    this.count(CX_HTTP1_TOTAL);
  }

  onExchangeDone(reusable: boolean): void {
    if (!this.isClosed) this.streamEnded(reusable);
  }

  onExchangeReset(): void {
    this.close();
  }

  onProtocolError(): void {
    if (this.isClosed) return;
    this.count(CX_PROTOCOL_ERROR);
    this.end('local', 'protocol_error');
  }

  onUnsupportedMetadata(): void {
    this.pool.cluster.stats.countUnsupportedMetadata();
  }

  onCloseAnnounced(): void {
    this.count(CX_CLOSE_NOTIFY);
  }

  protected override endRemotely(error: NodeJS.ErrnoException | undefined): void {
    this.end('remote', 'connection_termination', error === undefined);
  }

  protected override onEnd(reason: ResetReason, isOrderly: boolean): void {
    const { writer, base } = this.pool.cluster.stats;
    if (this.connectedMs >= 0) writer.record(base + RQ_PER_CX, this.requests);
    if (isOrderly && this.#codec.isInsideBody) this.count(CX_PROTOCOL_ERROR);
    this.#codec.onTransportClosed(reason, isOrderly);
  }
}
