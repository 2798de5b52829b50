/**
 * The interface of HTTP filters, after Envoy's: requests pass the chain in order, responses in
 * reverse. The last filter is terminal: it answers requests instead of passing them on (the
 * router).
 *
 * A filter is made per request. It may change headers in place; body pieces are valid during the
 * call only, and a filter that stops the iteration copies what it needs or asks for buffering.
 */
import type { Endable } from '../../shared/process/exceptions.ts';
import type { ResolvedRoute } from './route.ts';
import type { Metadata } from './codec.ts';
import type { HeaderMap } from './header-map.ts';
import type { StreamInfo } from './stream-info.ts';

/**
 * `continue` passes on; `stop` keeps the message at this filter until it calls continueDecoding or
 * continueEncoding, which it does later, never before it has returned. Body pieces that arrive
 * meanwhile still come to this filter.
 */
export type HeadersStatus = 'continue' | 'stop';
/**
 * `stop_and_buffer` keeps the piece in the chain's buffer; after `stop` the filter has it or drops it.
 * `taken` replaces it: the filter gives the body on by injectRequestData or injectResponseData, when it
 * has any, and is the one that ends the message.
 */
export type DataStatus = 'continue' | 'stop' | 'stop_and_buffer' | 'taken';
/** `taken`: the filter injects the trailers behind what it has left of the body. */
export type TrailersStatus = HeadersStatus | 'taken';

export interface HttpFilter {
  decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus;
  decodeData(data: Buffer, endStream: boolean): DataStatus;
  decodeTrailers(trailers: HeaderMap): TrailersStatus;
  encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus;
  encodeData(data: Buffer, endStream: boolean): DataStatus;
  encodeTrailers(trailers: HeaderMap): TrailersStatus;
  /** The stream is over, whether complete or not. Timers end here. */
  onDestroy(): void;
}

/** An answer made here instead of upstream. */
export interface LocalReply {
  readonly status: number;
  /** A string has one character per byte. */
  readonly body: string | Uint8Array;
  /** Response code details. */
  readonly details: string;
  /** What a gRPC client is told in place of what the status means; others do not see it. */
  readonly grpcStatus?: number | undefined;
  /** Overrides `text/plain`; only where there is a body. */
  readonly contentType?: string | undefined;
  /** The request is not read to its end: the connection closes after the answer. */
  readonly closesConnection?: boolean;
  /** A response as it was kept: nothing is added to these headers and nothing worded. */
  readonly wholeHeaders?: HeaderMap;
  /** Takes the place of an answer that was made here and is on its way through the filters. */
  readonly replacesAnswer?: boolean;
  /** Changes the answer's headers before they pass the filters. */
  readonly modifyHeaders?: (headers: HeaderMap) => void;
}

/** What every filter may ask of its stream, the terminal one too. */
export interface StreamCallbacks extends Endable {
  readonly info: StreamInfo;
  /** Resolved once before the first filter, again after `clearRoute`. */
  readonly route: ResolvedRoute | undefined;
  /** The filter's configuration of the resolved route, undefined when there is none. */
  routeConfig(filterName: string): unknown;
  /** The configurations of all the route's levels, the most specific first. */
  routeConfigs(filterName: string): readonly unknown[];
  /** Headers changed in a way that may lead elsewhere. */
  clearRoute(): void;
  continueDecoding(): void;
  continueEncoding(): void;
  sendLocalReply(reply: LocalReply): void;
  /** Ends the stream at once; a client that has seen headers sees the message break off. */
  resetStream(): void;
}

/** What a filter before the terminal one may ask. */
export interface FilterCallbacks extends StreamCallbacks {
  /**
   * Body in place of pieces that were `taken`, for the filters behind this one; dropped after the
   * end.
   */
  injectRequestData(data: Buffer, endStream: boolean): void;
  injectRequestTrailers(trailers: HeaderMap): void;
  injectResponseData(data: Buffer, endStream: boolean): void;
  injectResponseTrailers(trailers: HeaderMap): void;
  /**
   * Only while headers that are all there is pass this filter, or before it lets them go: what the
   * filters behind it see as the rest of the message.
   */
  addRequestBody(data: Buffer): void;
  addResponseBody(data: Buffer, trailers?: HeaderMap): void;
  /** Back-pressure of a filter that takes bodies: counted, balanced by the caller. */
  pauseRequest(paused: boolean): void;
  pauseResponse(paused: boolean): void;
  /**
   * Only while a response of which the client has nothing yet is held: when the present event is
   * over the request begins again, with its headers as they are now and no body.
   */
  restartRequest(): void;
  /** Somebody, the message's receiver or a filter, has asked its sender to wait. */
  isPaused(side: 'request' | 'response'): boolean;
}

/** What was kept of a request behind its headers. */
export interface RequestBody {
  readonly isEmpty: boolean;
  sendTo(
    target: {
      sendData(data: Buffer, endStream: boolean): void;
      sendTrailers(trailers: HeaderMap): void;
    },
    isWhole: boolean,
  ): void;
}

/** What the terminal filter may ask besides. */
export interface TerminalCallbacks extends StreamCallbacks {
  encode1xx(headers: HeaderMap): void;
  encodeHeaders(headers: HeaderMap, endStream: boolean): void;
  encodeData(data: Buffer, endStream: boolean): void;
  encodeTrailers(trailers: HeaderMap): void;
  encodeMetadata(metadata: Metadata): void;
  /** Back-pressure towards the client: counted, balanced by the caller. */
  pauseRequest(paused: boolean): void;
  readonly isResponseStarted: boolean;
  /** The whole request has passed the chain's entry. */
  readonly isRequestComplete: boolean;
  /**
   * Gives the exchange up and begins another for the same client: the request's headers as they are
   * now, with `body` behind them when there is one. The caller is destroyed when this returns.
   */
  recreateStream(body: RequestBody | undefined): void;
  /** Bytes that a filter may keep of this stream's bodies. */
  readonly bufferLimitBytes: number;
}

/** The last filter of a chain; it never sees responses, it makes them. */
export interface TerminalFilter {
  decodeHeaders(headers: HeaderMap, endStream: boolean): void;
  decodeData(data: Buffer, endStream: boolean): void;
  decodeTrailers(trailers: HeaderMap): void;
  decodeMetadata?(metadata: Metadata): void;
  /** Back-pressure from the client: what was encoded waits. */
  onDownstreamBlocked(blocked: boolean): void;
  onDestroy(): void;
}

/** Makes a filter per request; compiled once per connection manager. */
export interface FilterFactory {
  /** The configured name, which per-route configuration refers to. */
  readonly name: string;
  /** Takes part only in requests whose route has settings for it. */
  readonly isOffByDefault?: boolean;
  create(callbacks: FilterCallbacks): HttpFilter;
  /** How many filters stand in its place at most where the route does not change them; 1. */
  readonly width?: number;
  /** What stands in its place in the chain of one stream; absent: itself. */
  filtersFor?(route: ResolvedRoute | undefined): readonly FilterFactory[];
}

export interface TerminalFilterFactory {
  readonly name: string;
  create(callbacks: TerminalCallbacks): TerminalFilter;
}
