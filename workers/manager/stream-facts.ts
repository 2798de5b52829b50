/**
 * What is written down of an exchange as a whole, from its route, its codec or the exchange before.
 */
import type { LoopClock } from '../loop/loop-clock.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { ResponseEncoder } from '../stream/codec.ts';
import { StreamInfo } from '../stream/stream-info.ts';

export function noteRoute(info: StreamInfo, route: ResolvedRoute | undefined): void {
  info.route = route;
  info.routeName = route?.routeName ?? '';
  info.virtualHostName = route?.virtualHost.name ?? '';
  info.upstreamCluster = route?.kind === 'cluster' ? route.clusterName : '';
}

/** When the exchange ends. */
export function noteCodecBytes(info: StreamInfo, encoder: ResponseEncoder): void {
  info.downstreamHeaderBytesReceived = encoder.headerBytesReceived;
  info.downstreamWireBytesReceived = encoder.wireBytesReceived;
  info.downstreamHeaderBytesSent = encoder.headerBytesSent;
  info.downstreamWireBytesSent = encoder.wireBytesSent;
}

/** The facts that a request keeps when it is begun again with a redirect's target. */
export function nextInfo(earlier: StreamInfo, clock: LoopClock): StreamInfo {
  const info = new StreamInfo(earlier.connection, clock.ms, clock.wallMs);
  info.protocol = earlier.protocol;
  info.downstreamRemoteAddress = earlier.downstreamRemoteAddress;
  info.bytesReceived = earlier.bytesReceived;
  info.lastDownstreamRxMs = earlier.lastDownstreamRxMs;
  info.requestHeaders = earlier.requestHeaders;
  info.requestTrailers = earlier.requestTrailers;
  info.requestId = earlier.requestId;
  info.isInternalRequest = earlier.isInternalRequest;
  info.isHealthCheck = earlier.isHealthCheck;
  info.traceReason = earlier.traceReason;
  info.followedRedirects = earlier.followedRedirects;
  info.filterState = earlier.filterState;
  return info;
}
