/**
 * What the connection manager calls to have its header policy applied. Compiled once per HTTP
 * connection manager from its resource (`buildHeaderPolicy` in header-policy.ts); knows no codec.
 */
import type { MessageFault } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { Protocol, StreamInfo } from '../stream/stream-info.ts';

/** A request that policy refuses: answered by a local reply, then the connection may be closed. */
export interface RequestRefusal {
  /** The refusal is its protocol's to word. */
  readonly fault?: MessageFault;
  readonly status: number;
  readonly details: string;
  readonly body: string;
  /** `location` of the answer; only `UNESCAPE_AND_REDIRECT` sets it. */
  readonly location?: string;
}

/** Where headers dropped and requests refused for an underscore in a name count. */
export interface UnderscoreCounts {
  countDroppedHeader(protocol: Protocol | undefined): void;
  countRefusedUnderscore(protocol: Protocol | undefined): void;
}

export interface HeaderPolicy {
  /**
   * Right after the request's headers are complete, before routing: host and port stripping, path
   * normalisation, x-forwarded-for, x-forwarded-proto, x-forwarded-host, `scheme`, x-request-id,
   * removal of hop-by-hop headers and of x-envoy-* headers that an external client may not send,
   * x-envoy-internal, x-envoy-external-address, via, underscores in names. Writes
   * `downstreamRemoteAddress`, `isInternalRequest`, `requestId` and `traceReason` of the info.
   * Framing headers (content-length, transfer-encoding, connection, upgrade) are the codec's.
   */
  onRequest(headers: HeaderMap, info: StreamInfo): RequestRefusal | undefined;
  /** The request's trailers: underscores in their names. */
  onRequestTrailers(trailers: HeaderMap, info: StreamInfo): RequestRefusal | undefined;
  /**
   * Right before the response's headers are encoded: server, date, via, x-request-id where asked
   * for, removal of hop-by-hop headers. `nowMs` is wall time; the date string is kept per second.
   */
  onResponse(headers: HeaderMap, info: StreamInfo, nowMs: number): void;
  /** The same for an informational response of the upstream: x-request-id where asked for. */
  onInformational(headers: HeaderMap, info: StreamInfo): void;
}
