/**
 * What is written down of an exchange as a whole, from its route, its codec or the exchange before.
 */
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { LoopClock } from '../loop/loop-clock.ts';
import type { ResolvedRoute } from '../stream/route.ts';
import type { ResetReason, ResponseEncoder } from '../stream/codec.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import { StreamInfo } from '../stream/stream-info.ts';

export function noteRoute(info: StreamInfo, route: ResolvedRoute | undefined): void {
  info.route = route;
  info.routeName = route?.routeName ?? '';
  info.virtualHostName = route?.virtualHost.name ?? '';
  info.upstreamCluster = route?.kind === 'cluster' ? route.clusterName : '';
}

/** Who ended the exchange before it was complete, and why; `details` are the codec's. */
export function noteReset(info: StreamInfo, reason: ResetReason, details: string): void {
  if (reason === 'connection_termination') {
    info.responseFlags |= ResponseFlag.downstreamConnectionTermination;
    info.responseCodeDetails = details === '' ? 'downstream_remote_disconnect' : details;
    return;
  }
  if (details === '') return;
  info.responseCodeDetails = details;
  if (reason === 'remote_reset') info.responseFlags |= ResponseFlag.downstreamRemoteReset;
  if (reason === 'protocol_error') info.responseFlags |= ResponseFlag.downstreamProtocolError;
}

/** Facts of a whole connection, as of a stream that began with it. */
export function connectionStart(
  connection: ConnectionInfo,
  openedMs: number,
  clock: LoopClock,
): StreamInfo {
  return new StreamInfo(connection, openedMs, clock.wallMs - (clock.ms - openedMs));
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
  info.inPlaceOf = earlier.inPlaceOf;
  return info;
}
