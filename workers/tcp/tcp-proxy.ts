/**
 * One TCP proxy, compiled from its resource: what its connections share. Holds no state of any
 * connection.
 */
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import type {
  ProxyTlv,
  TcpCluster,
  TcpProxy,
} from '../../shared/resources/filters/network/tcp-proxy.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { TCP_PROXY } from '../../shared/resources/filters/network/tcp-proxy.ts';
import type { AccessLog } from '../access-log/types.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import type { DrainControl } from '../manager/manager.ts';
import type {
  ChainServer,
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import type { ByteCounters } from '../net/byte-stream.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { LoopTimer, TimerList } from '../loop/timers.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { compileLineFormat } from '../substitution/compile-format.ts';
import { TcpConnection } from './tcp-connection.ts';
import { TunnelRequests } from './tunnel-upstream.ts';

/** Keys under which filters before the proxy keep what is meant for it. */
const IDLE_KEY = 'envoy.tcp_proxy.per_connection_idle_timeout_ms';
const NO_TUNNEL_KEY = 'envoy.tcp_proxy.disable_tunneling';

export interface TcpProxyParts {
  readonly loop: WorkerLoop;
  readonly stats: StatWriter;
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  readonly drain: DrainControl;
  readonly overload: OverloadGate;
  /** From 0 to 1. */
  random(): number;
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
  readonly logInterval: TimerList | undefined;
  /** Undefined: nobody's bytes go in tunnels. */
  readonly #tlvs: readonly CompiledTlv[] | undefined;
  readonly #tunnels: TunnelRequests | undefined;

  constructor(config: TcpProxy, parts: TcpProxyParts) {
    const list = (delayMs: number): TimerList | undefined =>
      delayMs > 0 ? parts.loop.timers.list(delayMs) : undefined;
    const { index } = TCP_PROXY;
    this.config = config;
    this.parts = parts;
    this.base = parts.stats.defineBlock(TCP_PROXY, scopePrefix(`tcp.${config.statPrefix}`));
    this.counters = {
      stats: parts.stats,
      received: this.base + index.downstream_cx_rx_bytes_total,
      waiting: this.base + index.downstream_cx_rx_bytes_buffered,
      sent: this.base + index.downstream_cx_tx_bytes_total,
    };
    this.idle = list(config.idleTimeoutMs);
    this.#tunnels = config.tunnel && new TunnelRequests(config.tunnel);
    this.#tlvs = config.proxyTlvs?.map(compileTlv);
    this.logInterval = parts.accessLogs.length > 0 ? list(config.logIntervalMs) : undefined;
  }

  get bufferLimitBytes(): number {
    return this.parts.bufferLimitBytes;
  }

  create(observer: ConnectionObserver, open: OpenConnection): ServedConnection {
    return new TcpConnection(this, observer, open);
  }

  /** The cluster for one more try: the only one, or one by weight. */
  pickCluster(): Pick<TcpCluster, 'name' | 'subset'> {
    const { clusters, totalWeight } = this.config;
    const [only] = clusters;
    if (clusters.length === 1 && only !== undefined) return only;
    let left = this.parts.runtime.random() % totalWeight;
    const chosen = clusters.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return chosen ?? { name: '' };
  }

  /** The connection's own, where a filter before the proxy keeps one for it. */
  idleTimeOf(info: StreamInfo): TimerList | undefined {
    const own = filterStateOf(info, IDLE_KEY);
    if (own === undefined || !/^\d{1,15}$/.test(own)) return this.idle;
    return Number(own) > 0 ? this.parts.loop.timers.list(Number(own)) : undefined;
  }

  /** Undefined: bytes go to the host as they are. */
  tunnelsFor(info: StreamInfo): TunnelRequests | undefined {
    const tunnels = this.#tunnels;
    if (tunnels === undefined || filterStateOf(info, NO_TUNNEL_KEY) === 'true') return undefined;
    return tunnels;
  }

  /** A client that came without the PROXY protocol is told of with the configured additions. */
  addTlvs(info: StreamInfo): void {
    const { connection } = info;
    if (this.#tlvs === undefined || connection.proxyTlvs !== undefined) return;
    connection.proxyTlvs = this.#tlvs.map((tlv) => ({ type: tlv.type, value: tlv.valueOf(info) }));
  }

  /** Starts the time that one more connection may last. */
  armDuration(timer: LoopTimer): void {
    const { maxConnectionDurationMs: baseMs, durationJitter: jitter } = this.config;
    if (baseMs <= 0) return;
    const delayMs = baseMs * (1 + jitter * this.parts.random());
    this.parts.loop.timers.list(Math.ceil(delayMs)).arm(timer);
  }

  /** Undefined: the next attempt begins at once. */
  backOffMs(failedAttempts: number): number | undefined {
    const { retryBackOff } = this.config;
    if (retryBackOff === undefined) return undefined;
    const { baseMs, maxMs } = retryBackOff;
    const ceilingMs = Math.min(maxMs, baseMs * (2 ** failedAttempts - 1));
    return Math.max(1, Math.round(this.parts.random() * ceilingMs));
  }

  count(offset: number): void {
    this.parts.stats.increment(this.base + offset);
  }

  release(): void {
    this.parts.stats.releaseBlock(this.base);
  }
}

interface CompiledTlv {
  readonly type: number;
  valueOf(info: StreamInfo): Buffer;
}

function compileTlv(tlv: ProxyTlv): CompiledTlv {
  const { type } = tlv;
  if ('value' in tlv) {
    const value = Buffer.from(tlv.value, 'base64');
    return { type, valueOf: () => value };
  }
  const formatter = compileLineFormat(tlv.format);
  return { type, valueOf: (info) => Buffer.from(formatter(info), 'latin1') };
}
