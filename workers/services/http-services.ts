/**
 * The seam by which the proxy sends HTTP requests of its own to clusters: mirrors, filters, tracers
 * and access logs ask for it, the upstream client of `router/` provides it. A sender hears of one
 * response, or of one failure.
 */
import type { Endable } from '../../shared/process/exceptions.ts';
import type { ClusterRouteAction } from '../../shared/resources/routes/route.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { ClusterRoute, CompiledRetryPolicy } from '../stream/route.ts';

export interface ClientRequest {
  /** The client's from now on: it marks them as the proxy's own. */
  readonly headers: HeaderMap;
  /** Neither body nor trailers follow. */
  readonly endStream: boolean;
  /** From the end of the request to the end of the response, in milliseconds; 0: no limit. */
  readonly timeoutMs: number;
  /** Of the body, while it waits for a connection and again while retries may need it. */
  readonly bufferLimitBytes: number;
  /** The downstream connection on whose behalf it is sent; undefined: on the proxy's own. */
  readonly connection: ConnectionInfo | undefined;
  readonly priority: ClusterRouteAction['priority'];
  /** What the choice of a host depends on. */
  readonly balancing: Pick<ClusterRoute, 'hashOf' | 'subset'>;
  /** Undefined: one attempt is made. */
  readonly retryPolicy: CompiledRetryPolicy | undefined;
  /** Headers that Envoy adds to its own requests and this one goes without. */
  readonly omits?: OmittedHeaders;
}

interface OmittedHeaders {
  readonly forwardedFor?: boolean;
  readonly internal?: boolean;
}

/** Why there is no response, or not all of it: what a client would have been answered. */
export interface ServiceFailure {
  readonly status: number;
  readonly body: string;
  /** As in response code details. */
  readonly details: string;
}

/** Who sends a request. Nothing is called after the end of the response, a failure or a cancel. */
export interface ClientCallbacks extends Endable {
  onHeaders(headers: HeaderMap, endStream: boolean): void;
  /** The piece is valid during the call only. */
  onData(data: Buffer, endStream: boolean): void;
  onTrailers(trailers: HeaderMap): void;
  /** In place of the response, or of the rest of it; may be called before `send` returns. */
  onFailure(failure: ServiceFailure): void;
  /** The body is to wait, or goes on; counted. */
  pauseRequest(paused: boolean): void;
}

/** What a sender may do with its request; nothing has an effect once that is over. */
export interface ClientStream {
  sendData(data: Buffer, endStream: boolean): void;
  sendTrailers(trailers: HeaderMap): void;
  /** Back-pressure of whoever takes the response; counted. */
  pauseResponse(paused: boolean): void;
  cancel(): void;
}

export interface HttpServices {
  /** Undefined, with nothing called, where no cluster has this name. */
  sendTo(
    cluster: string,
    request: ClientRequest,
    callbacks: ClientCallbacks,
  ): ClientStream | undefined;
}

/** The balancing of requests that no route leads. */
export const NO_BALANCING: ClientRequest['balancing'] = { hashOf: undefined, subset: undefined };
