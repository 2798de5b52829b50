/**
 * A TCP proxy's way to a host that is a proxy itself: asks it by a request of HTTP, which the
 * cluster's pool carries, and passes bytes once it has agreed. What passes through is the proxy's
 * business.
 */
import type { TcpTunneling } from '../../shared/resources/filters/network/tcp-proxy.ts';
import type { RequestEncoder, ResetReason } from '../stream/codec.ts';
import { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { compileTextFormat, type Formatter } from '../substitution/compile-format.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { HttpPool, PoolClient, UpstreamConnectionInfo } from '../upstream/pools/http-pool.ts';
import type { ProxiedUpstream, UpstreamOwner } from './proxied-upstream.ts';

/** Makes the requests of one TCP proxy. */
export class TunnelRequests {
  readonly #tunnel: TcpTunneling;
  readonly #hostname: Formatter;
  readonly #addHeaders: HeaderMutation | undefined;

  constructor(tunnel: TcpTunneling) {
    this.#tunnel = tunnel;
    this.#hostname = compileTextFormat(tunnel.hostname, { omitEmptyValues: false });
    this.#addHeaders = compileHeaderMutations(
      [{ add: tunnel.headersToAdd, remove: [] }],
      new Set(),
    );
  }

  make(info: StreamInfo): HeaderMap {
    const headers = new HeaderMap();
    const { method, path } = this.#tunnel;
    headers.method = method;
    headers.authority = this.#hostname(info);
    if (method === 'POST') {
      headers.path = path;
      headers.scheme = 'http';
    }
    this.#addHeaders?.(headers, info);
    return headers;
  }
}

export class TunnelUpstream implements ProxiedUpstream, PoolClient {
  readonly cluster: UpstreamCluster;
  /** The encoder writes into the connection at once. */
  readonly pendingBytes = 0;
  readonly host: UpstreamHost;
  readonly #owner: UpstreamOwner;
  readonly #headers: HeaderMap;
  readonly #pool: HttpPool;
  #encoder: RequestEncoder | undefined = undefined;
  connection: UpstreamConnectionInfo | undefined = undefined;
  next: PoolClient | undefined = undefined;
  previous: PoolClient | undefined = undefined;
  #state: 'asking' | 'open' | 'closed' = 'asking';

  constructor(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    owner: UpstreamOwner,
    headers: HeaderMap,
  ) {
    this.cluster = host.home ?? cluster;
    this.host = host;
    this.#owner = owner;
    this.#headers = headers;
    this.#pool = cluster.poolOf(host, 'DEFAULT', {
      client: owner.downstreamInfo,
      names: undefined,
    });
  }

  /** May end before it returns. */
  start(): void {
    this.#pool.newStream(this);
  }

  writeData(data: Buffer): void {
    if (this.#state === 'open') this.#encoder?.encodeData(data, false);
  }

  pauseReading(paused: boolean): void {
    if (this.#state !== 'closed') this.#encoder?.pauseResponse(paused);
  }

  endWriting(): void {
    if (this.#state === 'open') this.#encoder?.encodeData(EMPTY, true);
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    if (this.#encoder === undefined) this.#pool.cancel(this);
    else this.#encoder.resetStream();
  }

  reset(): void {
    this.close();
  }

  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionInfo): void {
    this.#encoder = encoder;
    this.connection = connection;
    this.host.outlier?.established();
    const fault = encoder.encodeHeaders(this.#headers, false);
    if (fault === undefined) return;
    this.#encoder = undefined;
    this.#fail(fault, false);
  }

  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void {
    if (this.#state === 'closed') return;
    const isTimeout = reason === 'connection_timeout';
    if (triedHost) this.host.outlier?.connectFailed(isTimeout);
    this.#fail(detail, isTimeout);
  }

  decode1xx(): void {
    // The other proxy's final answer decides.
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.#state !== 'asking') return;
    if (headers.status >= 200 && headers.status < 300 && !endStream) {
      this.#state = 'open';
      this.#owner.onUpstreamReady();
      return;
    }
    const encoder = this.#encoder;
    this.#state = 'closed';
    encoder?.resetStream();
    this.#fail(`tunnel_response:${headers.status}`, false);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (this.#state !== 'open') return;
    if (data.length > 0) this.#owner.onUpstreamData(data, 0, data.length);
    if (endStream) this.#finish();
  }

  decodeTrailers(): void {
    if (this.#state === 'open') this.#finish();
  }

  onReset(reason: ResetReason): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'asking') {
      this.#fail('', false);
      return;
    }
    this.#state = 'closed';
    this.#owner.onUpstreamEnd({ kind: 'broken', isReset: reason === 'remote_reset' });
  }

  onWriteBlocked(blocked: boolean): void {
    if (this.#state === 'open') this.#owner.onUpstreamWriteBlocked(blocked);
  }

  /** The answer is over, and with it the request: nothing more goes either way. */
  #finish(): void {
    this.#state = 'closed';
    this.#owner.onUpstreamHalfClose();
    this.#owner.onUpstreamEnd({ kind: 'finished' });
  }

  #fail(detail: string, isTimeout: boolean): void {
    this.#state = 'closed';
    this.#owner.onUpstreamEnd({ kind: 'connect_failed', detail, isTimeout });
  }
}

const EMPTY = Buffer.alloc(0);
