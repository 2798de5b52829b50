/**
 * A pooled connection that speaks HTTP/2: its codec, which carries as many requests at the same
 * time as the host and the cluster allow, and the pings that ask whether the host is there.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import {
  DEFAULT_HTTP2_OPTIONS,
  type Http2Options,
} from '../../../shared/resources/http2-options.ts';
import {
  Http2ClientCodec,
  type Http2ClientOwner,
  STREAMS_UNTIL_SETTINGS,
} from '../../http2/client-codec.ts';
import type { ClientStream } from '../../http2/client-stream.ts';
import type { Http2Stats } from '../../http2/codec-stats.ts';
import { KeepAlive, KeepAliveTimes } from '../../http2/keep-alive.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';
import { bufferLimit } from '../../net/transport.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { Protocol } from '../../stream/stream-info.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PoolClient, UpstreamConnectionInfo } from './http-pool.ts';
import { PooledConnection } from './pooled-connection.ts';

const { index } = CLUSTER;
/** After so many requests a connection is out of numbers for streams. */
const STREAMS_MAX = 2 ** 30 - 1;
const ALPN: readonly string[] = ['h2'];

export class Http2PoolConnection extends PooledConnection<PoolClient> implements Http2ClientOwner {
  readonly #codec: Http2ClientCodec;
  readonly #stats: Http2Stats;
  readonly #options: Http2Options;
  #keepAlive: KeepAlive | undefined = undefined;

  constructor(pool: ConnectionPool<PoolClient>) {
    const { stats, resource } = pool.cluster;
    const { upstreamHttp, perConnectionBufferLimitBytes } = resource;
    const options = upstreamHttp.http2 ?? DEFAULT_HTTP2_OPTIONS;
    const maxDurationMs = upstreamHttp.maxConnectionDurationMs ?? 0;
    const { idleTimeoutMs } = upstreamHttp;
    // What it said on the connection before holds until it says something else.
    const known = Math.max(1, pool.host.maxStreams ?? STREAMS_UNTIL_SETTINGS);
    const capacity = Math.min(known, options.maxConcurrentStreams);
    super(pool, { capacity, idleTimeoutMs, maxDurationMs, alpn: ALPN });
    this.#options = options;
    this.#stats = stats.useHttp2();
    const limits = {
      options,
      maxHeaderBytes: upstreamHttp.maxResponseHeadersKb * 1024,
      maxHeaderCount: upstreamHttp.maxHeadersCount,
      streamBufferBytes: bufferLimit(perConnectionBufferLimitBytes),
      isOwnRequest: false,
    };
    this.#codec = new Http2ClientCodec(this.transport, this, this.#stats, limits);
    this.#stats.count('nghttp2_upstream_connections');
    this.count(index.upstream_cx_http2_total);
  }

  override onConnect(): void {
    const { keepAlive } = this.#options;
    this.#codec.start();
    if (keepAlive !== undefined) {
      const times = new KeepAliveTimes(keepAlive, this.pool.cluster.loop.timers);
      this.#keepAlive = new KeepAlive(times, {
        ping: (payload) => this.#codec.session.ping(payload),
        onTimeout: () => this.#onSilence(),
        onException: () => this.onException(),
      });
      this.#keepAlive.start();
    }
    super.onConnect();
  }

  begin(client: PoolClient): void {
    this.#keepAlive?.beforeStream();
    const stream = this.#codec.newStream(client);
    if (this.requests >= STREAMS_MAX) this.closeWhenIdle();
    client.onPoolReady(stream, new StreamFacts(this, stream));
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#keepAlive?.heard();
    this.#codec.onData(input, start, end);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#codec.onWriteBlocked(blocked);
  }

  onExchangeOver(): void {
    if (!this.isClosed) this.streamEnded(true);
  }

  onMaxStreams(count: number): void {
    this.pool.host.maxStreams = count;
    this.changeCapacity(Math.min(count, this.#options.maxConcurrentStreams));
  }

  onGoaway(): void {
    this.count(index.upstream_cx_close_notify);
    this.closeWhenIdle();
  }

  onPingAck(payload: string): void {
    this.#keepAlive?.onAck(payload);
  }

  onProtocolError(): void {
    if (this.isClosed) return;
    this.count(index.upstream_cx_protocol_error);
    this.end('local', 'protocol_error');
  }

  onStreamReset(by: 'host' | 'us'): void {
    this.count(by === 'host' ? index.upstream_rq_rx_reset : index.upstream_rq_tx_reset);
  }

  protected override endRemotely(error: NodeJS.ErrnoException | undefined): void {
    this.end('remote', 'connection_termination', error === undefined);
  }

  protected override onEnd(reason: ResetReason): void {
    this.#keepAlive?.end();
    const { writer, base } = this.pool.cluster.stats;
    if (this.connectedMs >= 0) writer.record(base + index.upstream_rq_per_cx, this.requests);
    this.#codec.onTransportClosed(reason);
  }

  #onSilence(): void {
    this.#stats.count('keepalive_timeout');
    this.end('local', 'connection_termination');
  }
}

/** What one request knows of the connection that carries it beside others. */
class StreamFacts implements UpstreamConnectionInfo {
  readonly protocol: Protocol = 'HTTP/2';
  readonly requests: number;
  readonly #connection: Http2PoolConnection;
  readonly #stream: ClientStream;

  constructor(connection: Http2PoolConnection, stream: ClientStream) {
    this.#connection = connection;
    this.#stream = stream;
    this.requests = connection.requests;
  }

  get id(): number {
    return this.#connection.id;
  }

  get localAddress(): Address | undefined {
    return this.#connection.localAddress;
  }

  get tls(): TlsInfo | undefined {
    return this.#connection.tls;
  }

  get openedMs(): number {
    return this.#connection.openedMs;
  }

  get connectedMs(): number {
    return this.#connection.connectedMs;
  }

  get headerBytesSent(): number {
    return this.#stream.headerBytesSent;
  }

  get wireBytesSent(): number {
    return this.#stream.wireBytesSent;
  }

  get headerBytesReceived(): number {
    return this.#stream.headerBytesReceived;
  }

  get wireBytesReceived(): number {
    return this.#stream.wireBytesReceived;
  }
}
