/**
 * What the router's own access logs are told of one attempt: the exchange with the upstream alone,
 * before the route changes the response. Made only where such logs are configured.
 */
import type { AccessLog } from '../../access-log/types.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { StreamInfo } from '../../stream/stream-info.ts';

export class UpstreamAttemptLog {
  readonly #logs: readonly AccessLog[];
  readonly #startMs: number;
  readonly #startWallMs: number;
  #response: HeaderMap | undefined = undefined;
  #bytesSent = 0;
  #bytesReceived = 0;
  #isOver = false;

  constructor(logs: readonly AccessLog[], startMs: number, startWallMs: number) {
    this.#logs = logs;
    this.#startMs = startMs;
    this.#startWallMs = startWallMs;
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
    const info = new StreamInfo(stream.connection, this.#startMs, this.#startWallMs);
    info.accessLogType = 'UpstreamEnd';
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
