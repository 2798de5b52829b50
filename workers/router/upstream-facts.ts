/** Writes into a stream's facts what a try's connection tells. */
import type { StreamInfo } from '../http/stream-info.ts';
import type { UpstreamConnectionFacts } from '../upstream/http-pool.ts';

/** The request got a connection at `nowMs`. */
export function noteConnection(
  info: StreamInfo,
  connection: UpstreamConnectionFacts,
  nowMs: number,
): void {
  info.upstreamPoolReadyMs = nowMs;
  info.upstreamConnectStartMs = connection.openedMs;
  info.upstreamConnectEndMs = connection.connectedMs;
  info.firstUpstreamTxMs = nowMs;
  info.upstreamConnectionId = connection.id;
  info.upstreamProtocol = connection.protocol;
  info.upstreamLocalAddress = connection.localAddress;
  info.upstreamTls = connection.tls;
}

/** The exchange is over; `requestDoneMs` is when the whole request had come, -1 when it had not. */
export function noteExchange(
  info: StreamInfo,
  connection: UpstreamConnectionFacts,
  requestDoneMs: number,
): void {
  if (requestDoneMs >= 0) {
    info.lastUpstreamTxMs = Math.max(requestDoneMs, info.firstUpstreamTxMs);
  }
  info.upstreamHeaderBytesSent = connection.headerBytesSent;
  info.upstreamWireBytesSent = connection.wireBytesSent;
  info.upstreamHeaderBytesReceived = connection.headerBytesReceived;
  info.upstreamWireBytesReceived = connection.wireBytesReceived;
}
