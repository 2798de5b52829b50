/** The facts that a request keeps when it is begun anew with a redirect's target. */
import { StreamInfo } from '../stream-info.ts';
import type { LoopClock } from '../../loop-clock.ts';

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
