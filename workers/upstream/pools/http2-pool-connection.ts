/** A pooled connection that speaks HTTP/2: many requests at the same time. */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { PoolClient } from './http-pool.ts';
import { firstCapacity, Http2Carrier } from './http2-carrier.ts';
import { drawnDurationMs } from './drawn-duration.ts';
import { PooledConnection } from './pooled-connection.ts';

const RQ_PER_CX = CLUSTER.index.upstream_rq_per_cx;
const ALPN: readonly string[] = ['h2'];

export class Http2PoolConnection extends PooledConnection<PoolClient> {
  readonly #carrier: Http2Carrier;

  constructor(pool: ConnectionPool<PoolClient>) {
    const { cluster, host } = pool;
    const { idleTimeoutMs } = cluster.resource.upstreamHttp;
    const capacity = firstCapacity(cluster, host);
    super(pool, {
      capacity,
      idleTimeoutMs,
      maxDurationMs: drawnDurationMs(cluster.resource),
      alpn: ALPN,
    });
    this.#carrier = new Http2Carrier(this, cluster, host);
  }

  override onConnect(): void {
    this.#carrier.start();
    super.onConnect();
  }

  begin(client: PoolClient): void {
    this.#carrier.begin(client);
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#carrier.onData(input, start, end);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#carrier.onWriteBlocked(blocked);
  }

  protected override endRemotely(): void {
    this.end('remote', 'connection_termination');
  }

  protected override resetsFor(reason: ResetReason): boolean {
    return this.#carrier.resetsFor(reason);
  }

  protected override onEnd(reason: ResetReason): void {
    const { writer, base } = this.pool.cluster.stats;
    if (this.connectedMs >= 0) writer.record(base + RQ_PER_CX, this.requests);
    this.#carrier.onEnd(reason);
  }
}
