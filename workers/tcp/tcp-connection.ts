/**
 * One client's connection through a TCP proxy: finds an upstream, passes bytes and the end of each
 * direction both ways with back-pressure, and ends both sides together. Reading from the client
 * begins when there is an upstream to send to; what waits is bounded by both sides' buffer limits.
 */
import { TCP_PROXY } from '../../shared/resources/filters/network/tcp-proxy.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { type AccessLogType, connectionStream, type StreamInfo } from '../stream/stream-info.ts';
import type {
  ConnectionObserver,
  OpenConnection,
  ServedConnection,
} from '../stream/chain-server.ts';
import type { TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import { LoopTimer, type TimerList, type TimerOwner } from '../loop/timers.ts';
import { noteConnection } from '../upstream/pools/connection-facts.ts';
import type { ProxiedUpstream, UpstreamEnd, UpstreamOwner } from './proxied-upstream.ts';
import type { TcpProxyServer } from './tcp-proxy.ts';
import { chooseTarget, countReading, countWriting, makeUpstream } from './tcp-target.ts';

const index = TCP_PROXY.index;

const TIMER_IDLE = 0;
const TIMER_DURATION = 1;
const TIMER_LOG = 2;
const TIMER_RETRY = 3;

export class TcpConnection
  implements ServedConnection, TransportHandler, UpstreamOwner, TimerOwner
{
  readonly openedMs: number;
  readonly #server: TcpProxyServer;
  readonly #observer: ConnectionObserver;
  readonly #transport: Transport;
  readonly #info: StreamInfo;
  readonly #idleTimer = new LoopTimer(this, TIMER_IDLE);
  readonly #durationTimer = new LoopTimer(this, TIMER_DURATION);
  readonly #logTimer = new LoopTimer(this, TIMER_LOG);
  #retryTimer: LoopTimer | undefined = undefined;
  /** Undefined: the connection may be idle for as long as it likes. */
  #idle: TimerList | undefined;
  #upstream: ProxiedUpstream | undefined = undefined;
  #attempts = 0;
  #isClientGone = false;
  #isEnded = false;
  /** The client is gone in order, and the upstream still takes what it sent. */
  #isFlushing = false;
  #isFlushCounted = false;

  constructor(server: TcpProxyServer, observer: ConnectionObserver, open: OpenConnection) {
    const { clock } = server.parts.loop;
    this.#server = server;
    this.#observer = observer;
    this.openedMs = clock.ms;
    const { transport, info } = open(this);
    transport.keepHalfOpen();
    this.#transport = transport;
    this.#info = connectionStream(info, clock);
    this.#idle = server.idle;
    server.count(index.downstream_cx_total);
  }

  start(): void {
    this.#transport.pauseReading(true);
    this.#idle = this.#server.idleTimeOf(this.#info);
    this.#server.addTlvs(this.#info);
    this.#server.armDuration(this.#durationTimer);
    this.#server.logInterval?.arm(this.#logTimer);
    if (this.#server.config.logOnStart) this.#log('TcpConnectionStart');
    this.#connect();
  }

  describe(): StreamInfo {
    this.#info.accessLogType = 'NotSet';
    return this.#info;
  }

  close(): void {
    const upstream = this.#upstream;
    this.#transport.close();
    this.#endClient();
    this.#upstream = undefined;
    upstream?.close();
    this.#end();
  }

  onConnect(): void {
    // An accepted socket is connected; with TLS nothing is sent before the handshake either.
  }

  onData(input: Buffer, start: number, end: number): void {
    const info = this.#info;
    const upstream = this.#upstream;
    const length = end - start;
    info.bytesReceived += length;
    info.downstreamWireBytesReceived += length;
    this.#idle?.arm(this.#idleTimer);
    if (this.#server.parts.overload.sheds('tcp_proxy_on_data')) return this.#closeOverloaded();
    if (upstream === undefined) return;
    info.upstreamWireBytesSent += length;
    upstream.writeData(input.subarray(start, end));
    this.#closeWhileDraining();
  }

  onRemoteEnd(): void {
    this.#idle?.arm(this.#idleTimer);
    this.#upstream?.endWriting();
  }

  onRemoteClose(error: NodeJS.ErrnoException | undefined): void {
    this.#endClient();
    const upstream = this.#upstream;
    if (error === undefined && upstream !== undefined) return this.#startFlushing(upstream);
    this.#upstream = undefined;
    upstream?.reset();
    this.#end();
  }

  /** The client takes no more for now, or takes more again. */
  onWriteBlocked(blocked: boolean): void {
    this.#upstream?.pauseReading(blocked);
    if (!blocked) this.#touch();
    if (this.#upstream !== undefined) countReading(this.#upstream.cluster, blocked);
  }

  onUpstreamReady(): void {
    const info = this.#info;
    const upstream = this.#upstream;
    const server = this.#server;
    if (upstream?.connection === undefined) return;
    info.upstreamHost = upstream.host;
    noteConnection(info, upstream.connection, server.parts.loop.clock.ms);
    this.#idle?.arm(this.#idleTimer);
    if (server.config.logOnConnected) this.#log('TcpUpstreamConnected');
    this.#transport.pauseReading(false);
  }

  onUpstreamData(input: Buffer, start: number, end: number): void {
    const info = this.#info;
    const length = end - start;
    info.upstreamWireBytesReceived += length;
    this.#idle?.arm(this.#idleTimer);
    if (this.#isFlushing) return;
    info.bytesSent += length;
    info.downstreamWireBytesSent += length;
    this.#transport.writeData(input.subarray(start, end));
    this.#closeWhileDraining();
  }

  onUpstreamHalfClose(): void {
    this.#touch();
    this.#transport.endWriting();
  }

  /** The host takes no more for now, or takes more again. */
  onUpstreamWriteBlocked(blocked: boolean): void {
    this.#transport.pauseReading(blocked);
    if (!blocked) this.#touch();
    const paused = index.downstream_flow_control_paused_reading_total;
    const resumed = index.downstream_flow_control_resumed_reading_total;
    this.#server.count(blocked ? paused : resumed);
    if (this.#upstream !== undefined) countWriting(this.#upstream.cluster, blocked);
  }

  onUpstreamEnd(end: UpstreamEnd): void {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    if (this.#isFlushing) return this.#end();
    switch (end.kind) {
      case 'finished':
        // The host's end was passed on; the client closes when it has taken everything.
        if (this.#server.tunnelsFor(this.#info) !== undefined && this.#transport.closeAfterWrites())
          this.close();
        return;
      case 'broken':
        if (end.isReset) this.#info.responseFlags |= ResponseFlag.upstreamRemoteReset;
        this.#transport.reset();
        this.close();
        return;
      case 'refused':
        this.#connect();
        return;
      case 'connect_failed':
        this.#info.responseFlags |= ResponseFlag.upstreamConnectionFailure;
        this.#info.upstreamHost = upstream?.host;
        this.#info.upstreamTransportFailureReason = end.detail;
        this.#retry();
    }
  }

  onException(): void {
    this.close();
  }

  onTimer(kind: number): void {
    if (kind === TIMER_LOG) {
      this.#log('TcpPeriodic');
      this.#server.logInterval?.arm(this.#logTimer);
      return;
    }
    if (kind === TIMER_RETRY) return this.#connect();
    if (kind === TIMER_IDLE) {
      this.#server.count(index.idle_timeout);
    } else {
      this.#server.count(index.max_downstream_connection_duration);
      this.#info.responseFlags |= ResponseFlag.durationTimeout;
    }
    this.close();
  }

  #retry(): void {
    const delayMs = this.#server.backOffMs(this.#attempts);
    if (delayMs === undefined || this.#attempts >= this.#server.config.maxConnectAttempts)
      return this.#connect();
    this.#retryTimer ??= new LoopTimer(this, TIMER_RETRY);
    this.#server.parts.loop.timers.list(delayMs).arm(this.#retryTimer);
  }

  /** One attempt; every way out of here is either a connection under way or the end. */
  #connect(): void {
    const server = this.#server;
    const info = this.#info;
    if (server.parts.overload.sheds('tcp_proxy_upstream_connect')) return this.#closeOverloaded();
    const target = chooseTarget(server, info, this.#attempts);
    if (typeof target === 'number') return this.#giveUp(target);
    this.#attempts++;
    info.attemptCount = this.#attempts;
    this.#upstream = makeUpstream(target, server, info, this);
    this.#upstream.start();
  }

  get downstreamInfo(): ConnectionInfo {
    return this.#info.connection;
  }

  #closeOverloaded(): void {
    this.#server.count(index.downstream_cx_overload_close);
    this.#giveUp(ResponseFlag.overloadManager);
  }

  #giveUp(flag: number): void {
    this.#info.responseFlags |= flag;
    this.close();
  }

  /** The upstream's side closes by itself; what it has still to take is counted as flushing. */
  #startFlushing({ pendingBytes }: ProxiedUpstream): void {
    this.#isFlushing = true;
    this.#idle?.arm(this.#idleTimer);
    if (pendingBytes === 0) return;
    this.#isFlushCounted = true;
    this.#server.count(index.upstream_flush_total);
    this.#server.parts.stats.add(this.#server.base + index.upstream_flush_active, 1);
  }

  /** Only where the proxy is configured to: bytes know no end that all could wait for. */
  #closeWhileDraining(): void {
    const { config, parts } = this.#server;
    if (!config.closesWhileDraining || !parts.drain.shouldClose()) return;
    this.#server.count(index.downstream_cx_drain_close);
    this.close();
  }

  #touch(): void {
    if (this.#idleTimer.isArmed) this.#idle?.arm(this.#idleTimer);
  }

  /** The client's side is over: what is said of the connection is final. */
  #endClient(): void {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    this.#durationTimer.disarm();
    this.#logTimer.disarm();
    this.#retryTimer?.disarm();
    this.#info.endMs = this.#server.parts.loop.clock.ms;
    this.#log('TcpConnectionEnd');
  }

  /** Both sides are over. */
  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#idleTimer.disarm();
    if (this.#isFlushCounted) {
      this.#server.parts.stats.subtract(this.#server.base + index.upstream_flush_active, 1);
    }
    this.#observer.onConnectionEnd(this);
  }

  #log(type: AccessLogType): void {
    this.#info.accessLogType = type;
    for (const log of this.#server.parts.accessLogs) log.log(this.#info);
  }
}
