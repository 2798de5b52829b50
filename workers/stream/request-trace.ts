/**
 * What the connection manager, the router and logs see of a request's trace; `tracing/` has the
 * tracers behind it. A request of a connection manager without tracing has none.
 */
import type { HeaderMap } from './header-map.ts';
import type { StreamInfo, UpstreamHostInfo } from './stream-info.ts';

/** One attempt, as its span sees it. */
export interface AttemptTrace {
  answered(headers: HeaderMap): void;
  trailed(trailers: HeaderMap): void;
  /** The host, or the way to it, ended the attempt; in Envoy's words. */
  failed(reason: string): void;
  /** This side gave the attempt up. */
  cancelled(): void;
  /** Once; `flags` say how it was reset. */
  end(info: StreamInfo, flags: number): void;
}

export interface AttemptTarget {
  readonly clusterName: string;
  /** What logs and spans call the cluster. */
  readonly clusterAlias: string;
  readonly host: UpstreamHostInfo;
  /** Counted from 1. */
  readonly attempt: number;
}

/** A request's trace, whether or not it is sampled. */
export interface RequestTrace {
  /** Hexadecimal; empty where there is no trace. */
  readonly traceId: string;
  readonly spanId: string;
  /** Its spans are sent to a collector. */
  readonly isSampled: boolean;
  /** Writes the context into the headers; a span where attempts have spans of their own. */
  beginAttempt(headers: HeaderMap, target: AttemptTarget): AttemptTrace | undefined;
  /** Before the response's headers leave. */
  onResponse(headers: HeaderMap): void;
  /** Once, when the exchange is over. */
  end(info: StreamInfo): void;
}

/** Tracing of one connection manager. */
export interface RequestTracer {
  /**
   * The route is known, and no filter has seen the request. Decides whether a new request is
   * sampled, and says so in its id; one that is begun again keeps the decision.
   */
  begin(headers: HeaderMap, info: StreamInfo): RequestTrace | undefined;
}
