/**
 * What makes a pooled connection one of HTTP/2: its codec, which carries as many requests at the
 * same time as the host and the cluster allow, and the pings that ask whether the host is there.
 */
import type { Endable } from '../../../shared/process/exceptions.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import {
  DEFAULT_HTTP2_OPTIONS,
  type Http2Options,
} from '../../../shared/resources/http2-options.ts';
import {
  Http2ClientCodec,
  type Http2ClientOwner,
  STREAMS_UNTIL_SETTINGS,
} from '../../http2/client/client-codec.ts';
import type { ClientStream } from '../../http2/client/client-stream.ts';
import { HOST_PAUSE_MS } from '../../http2/client/host-pause.ts';
import type { Http2Stats } from '../../http2/codec-stats.ts';
import { KeepAlive, KeepAliveTimes } from '../../http2/keep-alive.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';
import { bufferLimit } from '../../net/write-blocks.ts';
import type { Transport } from '../../net/transport.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { Protocol } from '../../stream/stream-info.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { ClosingSide } from './connection-account.ts';
import type { ConnectionFacts } from './connection-facts.ts';
import type { PoolClient, UpstreamConnectionInfo } from './http-pool.ts';

const { index } = CLUSTER;
/** As in Envoy, of requests that end with their connection, by its reason. */
const COUNTED_AT_END: Partial<Record<ResetReason, number>> = {
  connection_termination: index.upstream_rq_pending_failure_eject,
  protocol_error: index.upstream_rq_tx_reset,
};
/** After so many requests a connection is out of numbers for streams. */
const STREAMS_MAX = 2 ** 30 - 1;

/** The connection that is carried on. */
export interface CarryingConnection extends ConnectionFacts {
  readonly transport: Transport;
  readonly isClosed: boolean;
  readonly requests: number;
  streamEnded(isReusable: boolean): void;
  changeCapacity(capacity: number): void;
  closeWhenIdle(): void;
  end(how: ClosingSide, reason: ResetReason): void;
  count(offset: number): void;
  onException(): void;
}

/** Requests that a connection to the host can take before the host says how many. */
export function firstCapacity({ resource }: UpstreamCluster, host: UpstreamHost): number {
  const { maxConcurrentStreams } = resource.upstreamHttp.http2 ?? DEFAULT_HTTP2_OPTIONS;
  // What it said on the connection before holds until it says something else.
  const known = Math.max(1, host.maxStreams ?? STREAMS_UNTIL_SETTINGS);
  return Math.min(known, maxConcurrentStreams);
}

export class Http2Carrier implements Http2ClientOwner {
  readonly #connection: CarryingConnection;
  readonly #cluster: UpstreamCluster;
  readonly #host: UpstreamHost;
  readonly #codec: Http2ClientCodec;
  readonly #stats: Http2Stats;
  readonly #options: Http2Options;
  #keepAlive: KeepAlive | undefined = undefined;

  constructor(connection: CarryingConnection, cluster: UpstreamCluster, host: UpstreamHost) {
    const { upstreamHttp, perConnectionBufferLimitBytes } = cluster.resource;
    this.#connection = connection;
    this.#cluster = cluster;
    this.#host = host;
    this.#options = upstreamHttp.http2 ?? DEFAULT_HTTP2_OPTIONS;
    this.#stats = cluster.stats.useHttp2();
    this.#codec = new Http2ClientCodec(connection.transport, this, this.#stats, {
      options: this.#options,
      maxHeaderBytes: upstreamHttp.maxResponseHeadersKb * 1024,
      maxHeaderCount: upstreamHttp.maxHeadersCount,
      streamBufferBytes: bufferLimit(perConnectionBufferLimitBytes),
      isOwnRequest: false,
      hostPause: cluster.loop.timers.list(HOST_PAUSE_MS),
    });
    this.#stats.count('nghttp2_upstream_connections');
    connection.count(index.upstream_cx_http2_total);
  }

  /** The connection stands. */
  start(): void {
    const { keepAlive } = this.#options;
    this.#codec.start();
    if (keepAlive === undefined) return;
    const times = new KeepAliveTimes(keepAlive, this.#cluster.loop.timers);
    this.#keepAlive = new KeepAlive(times, {
      ping: (payload) => this.#codec.ping(payload),
      onTimeout: () => this.#onSilence(),
      onException: () => this.#connection.onException(),
    });
    this.#keepAlive.start();
  }

  begin(client: PoolClient): void {
    this.#keepAlive?.beforeStream();
    const stream = this.#codec.newStream(client);
    if (this.#connection.requests >= STREAMS_MAX) this.#connection.closeWhenIdle();
    client.onPoolReady(stream, new StreamFacts(this.#connection, stream));
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#keepAlive?.heard();
    this.#codec.onData(input, start, end);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#codec.onWriteBlocked(blocked);
  }

  /** The connection is over; what it carried hears of it. */
  onEnd(reason: ResetReason): void {
    this.#keepAlive?.end();
    const counted = COUNTED_AT_END[reason];
    if (counted !== undefined) {
      for (let left = this.#codec.openStreams; left > 0; left--) this.#connection.count(counted);
    }
    this.#codec.onTransportClosed(reason);
  }

  /** As in Envoy: what a fault of the host ends was reset. */
  resetsFor(reason: ResetReason): boolean {
    return reason === 'protocol_error';
  }

  onExchangeOver(): void {
    if (!this.#connection.isClosed) this.#connection.streamEnded(true);
  }

  onMaxStreams(count: number): void {
    this.#host.maxStreams = count;
    this.#connection.changeCapacity(Math.min(count, this.#options.maxConcurrentStreams));
  }

  onGoaway(): void {
    this.#connection.count(index.upstream_cx_close_notify);
    this.#connection.closeWhenIdle();
  }

  onPingAck(payload: string): void {
    this.#keepAlive?.onAck(payload);
  }

  onProtocolError(): void {
    if (this.#connection.isClosed) return;
    this.#connection.count(index.upstream_cx_protocol_error);
    // The host is told why, where it is told anything.
    this.#connection.transport.flush();
    this.#connection.end('local', 'protocol_error');
  }

  onStreamException(error: unknown, stream: Endable | undefined): void {
    this.#cluster.loop.failed(error, stream);
  }

  onStreamReset(by: 'host' | 'us'): void {
    const isOurs = by === 'us';
    this.#connection.count(isOurs ? index.upstream_rq_tx_reset : index.upstream_rq_rx_reset);
  }

  #onSilence(): void {
    this.#stats.count('keepalive_timeout');
    this.#connection.end('local', 'connection_termination');
  }
}

/** What one request knows of the connection that carries it beside others. */
class StreamFacts implements UpstreamConnectionInfo {
  readonly protocol: Protocol = 'HTTP/2';
  readonly requests: number;
  readonly #connection: CarryingConnection;
  readonly #stream: ClientStream;

  constructor(connection: CarryingConnection, stream: ClientStream) {
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
