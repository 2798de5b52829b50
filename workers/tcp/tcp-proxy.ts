/**
 * One TCP proxy, compiled from its resource: what its connections share. Holds no state of any
 * connection.
 */
import type { TcpProxy } from '../../shared/resources/network-filters.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { TCP_PROXY } from '../../shared/stats/templates/network-filters.ts';
import type { AccessLog } from '../access-log/types.ts';
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../listener/chain-server.ts';
import type { ByteCounters } from '../net/transport.ts';
import type { Runtime } from '../runtime.ts';
import type { TimerList } from '../timers.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { WorkerLoop } from '../worker-loop.ts';
import { TcpConnection } from './tcp-connection.ts';

export interface TcpProxyParts {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  readonly accessLogs: readonly AccessLog[];
  /** Bytes per connection and direction that may wait; the listener's. */
  readonly bufferLimitBytes: number;
}

export class TcpProxyServer implements ChainServer {
  readonly config: TcpProxy;
  readonly parts: TcpProxyParts;
  readonly base: number;
  readonly counters: ByteCounters;
  /** Lists of the configured times; undefined means disabled. */
  readonly idle: TimerList | undefined;
  readonly maxDuration: TimerList | undefined;
  readonly logInterval: TimerList | undefined;

  constructor(config: TcpProxy, parts: TcpProxyParts) {
    const list = (delayMs: number): TimerList | undefined =>
      delayMs > 0 ? parts.loop.timers.list(delayMs) : undefined;
    const { index } = TCP_PROXY;
    this.config = config;
    this.parts = parts;
    this.base = parts.stats.defineBlock(TCP_PROXY, `tcp.${config.statPrefix}.`);
    this.counters = {
      stats: parts.stats,
      received: this.base + index.downstream_cx_rx_bytes_total,
      waiting: this.base + index.downstream_cx_rx_bytes_buffered,
      sent: this.base + index.downstream_cx_tx_bytes_total,
    };
    this.idle = list(config.idleTimeoutMs);
    this.maxDuration = list(config.maxConnectionDurationMs);
    this.logInterval = parts.accessLogs.length > 0 ? list(config.logIntervalMs) : undefined;
  }

  get bufferLimitBytes(): number {
    return this.parts.bufferLimitBytes;
  }

  create(observer: ConnectionObserver, open: OpenConnection): ServedConnection {
    return new TcpConnection(this, observer, open);
  }

  /** The cluster for one more try: the only one, or one by weight. */
  pickCluster(): string {
    const { clusters, totalWeight } = this.config;
    const [only] = clusters;
    if (clusters.length === 1 && only !== undefined) return only.name;
    let left = this.parts.runtime.random() % totalWeight;
    const chosen = clusters.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return chosen?.name ?? '';
  }

  count(offset: number): void {
    this.parts.stats.increment(this.base + offset);
  }

  release(): void {
    this.parts.stats.releaseBlock(this.base);
  }
}
