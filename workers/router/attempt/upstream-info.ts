/** Writes into a stream's facts where its request goes and what an attempt's connection tells. */
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { ClusterRoute } from '../../stream/route.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import { noteConnection } from '../../upstream/pools/connection-facts.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';

/** The request was routed to a cluster. */
export function noteTarget(
  info: StreamInfo,
  cluster: UpstreamCluster,
  route: ClusterRoute,
  headers: HeaderMap,
): void {
  info.upstreamCluster = cluster.name;
  info.upstreamClusterAlias = cluster.resource.observabilityName ?? '';
  info.upstreamClusterMetadata = cluster.resource.metadata;
  info.attemptCount = 1;
  info.routeStatPrefix = route.statPrefix;
  if (route.virtualHost.virtualClusters.length > 0) {
    info.virtualClusterName = route.virtualClusterOf(headers);
  }
}

/** The request got a connection at `nowMs`. */
export function noteHttpConnection(
  info: StreamInfo,
  connection: UpstreamConnectionInfo,
  nowMs: number,
): void {
  noteConnection(info, connection, nowMs);
  info.firstUpstreamTxMs = nowMs;
  info.upstreamProtocol = connection.protocol;
}

/** The exchange is over; `requestDoneMs` is when the whole request had come, -1 when it had not. */
export function noteExchange(
  info: StreamInfo,
  connection: UpstreamConnectionInfo,
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
