/** How much of their work workers are to refuse now, as the supervisor's monitors found it. */

/** Moments at which one piece of work may be refused. */
export const SHED_POINTS = [
  'tcp_listener_accept',
  'hcm_ondata_creating_codec',
  'http1_server_abort_dispatch',
  'http_connection_manager_decode_headers',
  'http_downstream_filter_check',
  'connection_pool_new_connection',
  'tcp_proxy_upstream_connect',
  'tcp_proxy_on_data',
  'http2_server_go_away_on_dispatch',
  'http2_server_go_away_and_close_on_dispatch',
] as const;

export type ShedPoint = (typeof SHED_POINTS)[number];

/**
 * What stands before a point's name in the configuration, and after `overload.` in statistic names.
 */
export const SHED_POINT_PREFIX = 'envoy.load_shed_points.';

/** Timeouts that can be cut short. */
export type ScaledTimeout = 'connection_idle' | 'stream_idle' | 'connection_max';

/** To what a timeout comes down at worst: milliseconds, or a share of itself from 0 to 1. */
export interface LeastTimeout {
  readonly timeout: ScaledTimeout;
  readonly minMs?: number;
  readonly minShare?: number;
}

export interface OverloadState {
  /** Share of new requests that are answered with 503; each of these is from 0 to 1. */
  readonly refusedRequests: number;
  /** Share of answers that end their HTTP/1 connection. */
  readonly endedKeepalives: number;
  /** Share of new connections that are closed at once. */
  readonly rejectedConnections: number;
  /** Share of the work that is refused at each of these points; absent: none. */
  readonly shed: Readonly<Partial<Record<ShedPoint, number>>>;
  /** How far timeouts have come from their own lengths to the least ones: from 0 to 1. */
  readonly timeoutScale: number;
  readonly leastTimeouts: readonly LeastTimeout[];
}

export const CALM: OverloadState = {
  refusedRequests: 0,
  endedKeepalives: 0,
  rejectedConnections: 0,
  shed: {},
  timeoutScale: 0,
  leastTimeouts: [],
};
