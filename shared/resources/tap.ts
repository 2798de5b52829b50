/**
 * What a tap records of requests or connections and where it goes, as workers receive it. Source:
 * envoy.config.tap.v3, envoy.extensions.filters.http.tap.v3, envoy.extensions.transport_sockets.tap.v3.
 */
import type { HeaderMatcher, RuntimeFraction } from './routes/matchers.ts';

/** A larger record does not reach the client of `/tap`. */
export const TAP_RECORD_BYTES_MAX = 8 * 1024 * 1024;

export type TapFormat =
  | 'JSON_BODY_AS_BYTES'
  | 'JSON_BODY_AS_STRING'
  | 'PROTO_BINARY'
  | 'PROTO_BINARY_LENGTH_DELIMITED'
  | 'PROTO_TEXT';

export type TapMatch =
  | { readonly kind: 'any' }
  | { readonly kind: 'or' | 'and'; readonly rules: readonly TapMatch[] }
  | { readonly kind: 'not'; readonly rule: TapMatch }
  | {
      readonly kind: 'headers';
      readonly of:
        | 'request_headers'
        | 'request_trailers'
        | 'response_headers'
        | 'response_trailers';
      readonly matchers: readonly HeaderMatcher[];
    }
  | {
      readonly kind: 'body';
      readonly of: 'request' | 'response';
      /** Only this much of the body is looked at; 0: all of it. */
      readonly bytesLimit: number;
      /** All of them must be in the body; base64. */
      readonly patterns: readonly string[];
    };

export interface TapSettings {
  readonly match: TapMatch;
  /** Absent: every request. */
  readonly enabled?: RuntimeFraction;
  /** Bytes of a request's body that are recorded. */
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
  /** Each part as it passes instead of one record at the end. */
  readonly streaming: boolean;
  /** A tap of connections gathers events until they have so many bytes; absent: one by one. */
  readonly minStreamedBytes?: number;
  readonly format: TapFormat;
  readonly sink:
    | { readonly kind: 'file'; readonly pathPrefix: string }
    | { readonly kind: 'admin' };
}

/** What a client of `/tap/listen` hears, wherever no filter was configured for it. */
export interface TapListenOrder {
  readonly of: 'requests' | 'connections';
  /** Absent: every listener. */
  readonly listener?: string;
  /** IP address or range of the client; absent: every client. */
  readonly client?: string;
  /** In millionths. */
  readonly share: number;
}

/** Where a tap's settings come from: a client of `/tap`, or the configuration. */
export type TapSource =
  | { readonly kind: 'admin'; readonly configId: string }
  | { readonly kind: 'static'; readonly settings: TapSettings };

/** Records what passes over connections. */
export interface SocketTap {
  readonly source: TapSource;
  /** Each event says whose connection it is. */
  readonly connectionPerEvent: boolean;
  /** Between `transport.tap.` and the statistic's name; empty or with a dot at its end. */
  readonly statPrefix: string;
}

export interface TapFilterOptions {
  readonly source: TapSource;
  readonly recordsReceivedTime: boolean;
  readonly recordsDownstreamConnection: boolean;
  readonly recordsUpstreamConnection: boolean;
}
