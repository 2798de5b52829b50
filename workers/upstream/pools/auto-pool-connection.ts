/**
 * A pooled connection whose host chooses by ALPN what it speaks: HTTP/2 where it agrees to that,
 * else HTTP/1.1. What a host chose last says how many requests may wait for a connection that is
 * being made.
 */
import type { ResetReason } from '../../stream/codec.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PoolClient } from './http-pool.ts';
import { Http1PoolConnection } from './http1-pool-connection.ts';
import { firstCapacity, Http2Carrier } from './http2-carrier.ts';

const ALPN: readonly string[] = ['h2', 'http/1.1'];

export class AutoPoolConnection extends Http1PoolConnection {
  /** Undefined before the handshake, and where the host wants HTTP/1.1. */
  #http2: Http2Carrier | undefined = undefined;

  constructor(pool: ConnectionPool<PoolClient>) {
    const { cluster, host } = pool;
    super(pool, { capacity: host.spokeHttp2 ? firstCapacity(cluster, host) : 1, alpn: ALPN });
  }

  override onConnect(): void {
    const { cluster, host } = this.pool;
    host.spokeHttp2 = this.tls?.alpn === 'h2';
    if (host.spokeHttp2) {
      this.#http2 = new Http2Carrier(this, cluster, host);
      this.#http2.start();
    } else this.countProtocol();
    this.changeCapacity(host.spokeHttp2 ? firstCapacity(cluster, host) : 1);
    super.onConnect();
  }

  override begin(client: PoolClient): void {
    if (this.#http2 === undefined) super.begin(client);
    else this.#http2.begin(client);
  }

  override onData(input: Buffer, start: number, end: number): void {
    if (this.#http2 === undefined) super.onData(input, start, end);
    else this.#http2.onData(input, start, end);
  }

  override onWriteBlocked(blocked: boolean): void {
    if (this.#http2 === undefined) super.onWriteBlocked(blocked);
    else this.#http2.onWriteBlocked(blocked);
  }

  protected override onEnd(reason: ResetReason, isOrderly: boolean): void {
    super.onEnd(reason, isOrderly);
    this.#http2?.onEnd(reason);
  }
}
