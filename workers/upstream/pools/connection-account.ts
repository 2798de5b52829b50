/**
 * The account of one connection to a host, whatever it carries: what the cluster and the host count
 * of it from its opening to its end, and that both last as long as it does.
 */
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import type { ResetReason } from '../../stream/codec.ts';
import { isLocalConnectError } from '../../net/connection-errors.ts';
import type { ByteCounters } from '../../net/byte-stream.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';

const { index } = CLUSTER;

export type ClosingSide = 'local' | 'remote';

export class ConnectionAccount {
  /** Monotonic milliseconds; `connectedMs` is -1 until then. */
  readonly openedMs: number;
  connectedMs = -1;
  readonly #cluster: UpstreamCluster;
  readonly #host: UpstreamHost;

  constructor(cluster: UpstreamCluster, host: UpstreamHost) {
    this.#cluster = cluster;
    this.#host = host;
    this.openedMs = cluster.loop.clock.ms;
    cluster.retained.hold();
    host.retained.hold();
  }

  get counters(): ByteCounters {
    const { writer: stats, base } = this.#cluster.stats;
    return {
      stats,
      received: base + index.upstream_cx_rx_bytes_total,
      waiting: base + index.upstream_cx_rx_bytes_buffered,
      sent: base + index.upstream_cx_tx_bytes_total,
    };
  }

  /** Each address that is tried counts as a connection. */
  countAddress(): void {
    this.#count(index.upstream_cx_total);
    this.#cluster.stats.writer.increment(this.#host.statBase + HOST.index.cx_total);
  }

  opened(): void {
    const { writer, base } = this.#cluster.stats;
    this.countAddress();
    writer.add(base + index.upstream_cx_active, 1);
    writer.add(this.#host.statBase + HOST.index.cx_active, 1);
  }

  connected(): void {
    const { loop, stats } = this.#cluster;
    this.connectedMs = loop.clock.ms;
    const tookMs = Math.round(this.connectedMs - this.openedMs);
    stats.writer.record(stats.base + index.upstream_cx_connect_ms, tookMs);
  }

  failed(error: NodeJS.ErrnoException | undefined): void {
    this.#count(index.upstream_cx_connect_fail);
    this.#cluster.stats.writer.increment(this.#host.statBase + HOST.index.cx_connect_fail);
    if (error?.syscall === 'bind') this.#count(index.bind_errors);
  }

  closed(how: ClosingSide, wasBusy: boolean): void {
    const { loop, stats } = this.#cluster;
    const { writer, base } = stats;
    this.#count(index.upstream_cx_destroy);
    this.#count(
      how === 'local' ? index.upstream_cx_destroy_local : index.upstream_cx_destroy_remote,
    );
    if (wasBusy) {
      this.#count(index.upstream_cx_destroy_with_active_rq);
      this.#count(
        how === 'local'
          ? index.upstream_cx_destroy_local_with_active_rq
          : index.upstream_cx_destroy_remote_with_active_rq,
      );
    }
    writer.subtract(base + index.upstream_cx_active, 1);
    writer.subtract(this.#host.statBase + HOST.index.cx_active, 1);
    writer.record(base + index.upstream_cx_length_ms, Math.round(loop.clock.ms - this.openedMs));
  }

  /** The last word: the cluster and the host may go. */
  letGo(): void {
    this.#cluster.retained.letGo();
    this.#host.retained.letGo();
  }

  #count(offset: number): void {
    const { writer, base } = this.#cluster.stats;
    writer.increment(base + offset);
  }
}

/** Whose failure it is that a connection did not come about. */
export function connectFailureOf(error: NodeJS.ErrnoException | undefined): ResetReason {
  const isLocal = error !== undefined && isLocalConnectError(error);
  return isLocal ? 'local_connection_failure' : 'connection_failure';
}
