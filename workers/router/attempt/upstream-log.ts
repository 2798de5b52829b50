/**
 * What the router's own access logs are told of one attempt: the exchange with the upstream alone,
 * before the route changes the response. Made only where such logs are configured.
 */
import type { UpstreamLogMoments } from '../../../shared/resources/filters/http/router.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { AccessLog } from '../../access-log/types.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { StreamInfo } from '../../stream/stream-info.ts';

export interface UpstreamLogs {
  readonly logs: readonly AccessLog[];
  readonly moments: UpstreamLogMoments | undefined;
}

/** Whose attempt it is. */
interface LoggedStream {
  readonly info: StreamInfo;
  readonly loop: WorkerLoop;
  onException(): void;
}

export class UpstreamAttemptLog implements TimerOwner {
  readonly #logs: readonly AccessLog[];
  readonly #moments: UpstreamLogMoments | undefined;
  readonly #stream: LoggedStream;
  readonly #timer: LoopTimer | undefined;
  readonly #startMs: number;
  readonly #startWallMs: number;
  #response: HeaderMap | undefined = undefined;
  #bytesSent = 0;
  #bytesReceived = 0;
  #isOver = false;

  constructor({ logs, moments }: UpstreamLogs, stream: LoggedStream) {
    this.#logs = logs;
    this.#moments = moments;
    this.#stream = stream;
    const { ms, wallMs } = stream.loop.clock;
    this.#startMs = ms;
    this.#startWallMs = wallMs;
    if (moments === undefined || moments.intervalMs === 0) return;
    this.#timer = new LoopTimer(this, 0);
    stream.loop.timers.list(moments.intervalMs).arm(this.#timer);
  }

  /** There is a connection. */
  ready(): void {
    if (this.#moments?.isReady === true) this.#writeNow('UpstreamPoolReady');
  }

  onTimer(): void {
    const { loop } = this.#stream;
    if (this.#timer !== undefined && this.#moments !== undefined) {
      loop.timers.list(this.#moments.intervalMs).arm(this.#timer);
    }
    this.#writeNow('UpstreamPeriodic');
  }

  onException(): void {
    this.#stream.onException();
  }

  sent(bytes: number): void {
    this.#bytesSent += bytes;
  }

  /** The response's headers as they came. */
  responded(headers: HeaderMap): void {
    this.#response = headers.clone();
  }

  received(bytes: number): void {
    this.#bytesReceived += bytes;
  }

  /** Writes the attempt's lines, once. `flags`: of a reset; `stream`: the request's own. */
  end(stream: StreamInfo, endMs: number, flags: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer?.disarm();
    this.#write('UpstreamEnd', stream, endMs, flags);
  }

  #writeNow(type: StreamInfo['accessLogType']): void {
    const { info, loop } = this.#stream;
    if (!this.#isOver) this.#write(type, info, loop.clock.ms, 0);
  }

  #write(
    type: StreamInfo['accessLogType'],
    stream: StreamInfo,
    endMs: number,
    flags: number,
  ): void {
    const info = new StreamInfo(stream.connection, this.#startMs, this.#startWallMs);
    info.accessLogType = type;
    info.endMs = endMs;
    info.downstreamRemoteAddress = stream.downstreamRemoteAddress;
    info.requestHeaders = stream.requestHeaders;
    info.responseHeaders = this.#response;
    info.responseCode = this.#response?.status ?? 0;
    info.responseFlags = flags;
    info.bytesSent = this.#bytesSent;
    info.bytesReceived = this.#bytesReceived;
    info.requestId = stream.requestId;
    info.route = stream.route;
    info.routeName = stream.routeName;
    copyUpstreamInfo(stream, info);
    for (const log of this.#logs) log.log(info);
  }
}

function copyUpstreamInfo(from: StreamInfo, to: StreamInfo): void {
  to.protocol = from.upstreamProtocol;
  to.upstreamProtocol = from.upstreamProtocol;
  to.upstreamCluster = from.upstreamCluster;
  to.upstreamClusterAlias = from.upstreamClusterAlias;
  to.upstreamClusterMetadata = from.upstreamClusterMetadata;
  to.upstreamHost = from.upstreamHost;
  to.upstreamConnectionId = from.upstreamConnectionId;
  to.upstreamLocalAddress = from.upstreamLocalAddress;
  to.upstreamTransportFailureReason = from.upstreamTransportFailureReason;
  to.upstreamTls = from.upstreamTls;
  to.upstreamHeaderBytesSent = from.upstreamHeaderBytesSent;
  to.upstreamHeaderBytesReceived = from.upstreamHeaderBytesReceived;
  to.upstreamWireBytesSent = from.upstreamWireBytesSent;
  to.upstreamWireBytesReceived = from.upstreamWireBytesReceived;
  to.upstreamConnectStartMs = from.upstreamConnectStartMs;
  to.upstreamConnectEndMs = from.upstreamConnectEndMs;
  to.upstreamPoolReadyMs = from.upstreamPoolReadyMs;
  to.firstUpstreamTxMs = from.firstUpstreamTxMs;
  to.lastUpstreamTxMs = from.lastUpstreamTxMs;
  to.firstUpstreamRxMs = from.firstUpstreamRxMs;
  to.lastUpstreamRxMs = from.lastUpstreamRxMs;
}
