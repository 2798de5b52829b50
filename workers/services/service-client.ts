/**
 * How filters, loggers and other parts below the router send requests of the proxy's own: the seam
 * to the upstream client (`router/client`), which the data plane puts behind it.
 */
import type { Endable } from '../../shared/process/exceptions.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { CompiledRetryPolicy } from '../stream/route.ts';

/** Why there is no response, or no more of one. */
export interface CallFailure {
  /** What a client would be told: 504 after a timeout, 503 after a reset. */
  readonly status: number;
  /** Response code details. */
  readonly details: string;
  readonly body: string;
}

export interface ServiceRequest {
  /** The service client's from now on. */
  readonly headers: HeaderMap;
  /** Neither body nor trailers follow. */
  readonly endStream: boolean;
  /** From the end of the request to the end of the response, in milliseconds; 0: no limit. */
  readonly timeoutMs: number;
  /** The downstream connection on whose behalf it is sent; undefined: on none's. */
  readonly connection: ConnectionInfo | undefined;
  /** Adds this machine's address to `x-forwarded-for`. */
  readonly tellsAddress: boolean;
  /** Says by `x-envoy-internal` that it is the proxy's own, as it does where this is absent. */
  readonly tellsInternal?: boolean;
  /** Undefined: one attempt is made. */
  readonly retryPolicy?: CompiledRetryPolicy | undefined;
}

/** Who sends a request. Nothing is called after the end of the response, a failure or a cancel. */
export interface ServiceCallbacks extends Endable {
  onHeaders(headers: HeaderMap, endStream: boolean): void;
  onData(data: Buffer, endStream: boolean): void;
  onTrailers(trailers: HeaderMap): void;
  /** In place of the response, or of the rest of it; may be called before `send` returns. */
  onFailure(failure: CallFailure): void;
  /** The body is to wait, or goes on; counted. */
  pauseRequest(paused: boolean): void;
}

/** What a sender may do with its request; nothing has an effect once that is over. */
export interface ServiceStream {
  sendData(data: Buffer, endStream: boolean): void;
  sendTrailers(trailers: HeaderMap): void;
  /** Back-pressure of the response's receiver; counted. */
  pauseResponse(paused: boolean): void;
  cancel(): void;
}

export interface ServiceClient {
  /** Undefined, with nothing called, where there is no such cluster. */
  send(
    cluster: string,
    request: ServiceRequest,
    callbacks: ServiceCallbacks,
  ): ServiceStream | undefined;
}
