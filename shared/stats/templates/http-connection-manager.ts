/** Statistics of HTTP connection managers, the router filter and tracing below `http.<prefix>.`. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram } from './spec.ts';

/** Prefix: `http.<stat_prefix>.` */
export const HTTP_CONNECTION_MANAGER = defineTemplate('http_connection_manager', {
  downstream_cx_active: gauge('Open connections'),
  downstream_cx_delayed_close_timeout: counter('Connections whose client did not close in time'),
  downstream_cx_destroy: counter('Closed connections'),
  downstream_cx_destroy_active_rq: counter('Connections closed with at least one open request'),
  downstream_cx_destroy_local: counter('Connections closed by this side'),
  downstream_cx_destroy_local_active_rq: counter('Connections closed by this side in a request'),
  downstream_cx_destroy_remote: counter('Connections closed by the client'),
  downstream_cx_destroy_remote_active_rq: counter('Connections closed by the client in a request'),
  downstream_cx_drain_close: counter('Connections closed by draining'),
  downstream_cx_http1_active: gauge('Open HTTP/1 connections'),
  downstream_cx_http1_soft_drain: gauge('HTTP/1 connections that close after their next answer'),
  downstream_cx_http1_total: counter('HTTP/1 connections'),
  downstream_cx_http2_active: gauge('Open HTTP/2 connections'),
  downstream_cx_http2_total: counter('HTTP/2 connections'),
  downstream_cx_http3_active: gauge('Always 0: HTTP/3 is not served'),
  downstream_cx_http3_total: counter('Never counted: HTTP/3 is not served'),
  downstream_cx_idle_timeout: counter('Connections closed for being idle'),
  downstream_cx_max_duration_reached: counter('Connections closed for their age'),
  downstream_cx_max_requests_reached: counter(
    'Connections closed after their last allowed request',
  ),
  downstream_cx_overload_disable_keepalive: counter(
    'Connections closed after an answer by overload',
  ),
  downstream_cx_protocol_error: counter('Connections with a protocol error'),
  downstream_cx_rx_bytes_buffered: gauge('Received bytes that wait in connections'),
  downstream_cx_rx_bytes_total: counter('Bytes received'),
  downstream_cx_ssl_active: gauge('Open TLS connections'),
  downstream_cx_ssl_total: counter('TLS connections'),
  downstream_cx_total: counter('Connections'),
  downstream_cx_tx_bytes_buffered: gauge('Always 0: the runtime and the kernel keep what waits'),
  downstream_cx_tx_bytes_total: counter('Bytes sent'),
  downstream_cx_upgrades_active: gauge('Open upgraded connections'),
  downstream_cx_upgrades_total: counter('Upgraded connections'),
  downstream_flow_control_paused_reading_total: counter('Times reading from clients stopped'),
  downstream_flow_control_resumed_reading_total: counter('Times reading from clients resumed'),
  downstream_rq_1xx: counter('Answers with a 1xx status'),
  downstream_rq_2xx: counter('Answers with a 2xx status'),
  downstream_rq_3xx: counter('Answers with a 3xx status'),
  downstream_rq_4xx: counter('Answers with a 4xx status'),
  downstream_rq_5xx: counter('Answers with a 5xx status'),
  downstream_rq_active: gauge('Open requests'),
  downstream_rq_completed: counter('Requests that got an answer'),
  downstream_rq_failed_path_normalization: counter(
    'Requests refused: the path cannot be normalised',
  ),
  downstream_rq_header_timeout: counter('Requests whose headers did not come in time'),
  downstream_rq_http1_total: counter('HTTP/1 requests'),
  downstream_rq_http2_total: counter('HTTP/2 requests'),
  downstream_rq_http3_total: counter('Never counted: HTTP/3 is not served'),
  downstream_rq_idle_timeout: counter('Requests closed for being idle'),
  downstream_rq_max_duration_reached: counter('Requests closed for their age'),
  downstream_rq_non_relative_path: counter('Requests refused for a path that is not relative'),
  downstream_rq_overload_close: counter('Requests refused by overload'),
  downstream_rq_redirected_with_normalized_path: counter(
    'Requests redirected to a normalised path',
  ),
  downstream_rq_rejected_via_ip_detection: counter('Requests refused by original IP detection'),
  downstream_rq_response_before_rq_complete: counter('Answers sent before the request had ended'),
  downstream_rq_rx_reset: counter('Requests reset by the client'),
  downstream_rq_timeout: counter('Requests that did not arrive whole in time'),
  downstream_rq_too_large: counter('Requests refused for their size'),
  downstream_rq_too_many_premature_resets: counter('Connections closed for too many early resets'),
  downstream_rq_total: counter('Requests'),
  downstream_rq_tx_reset: counter('Requests reset by this side'),
  downstream_rq_ws_on_non_ws_route: counter('Upgrade requests to routes that take none'),
  rs_too_large: counter('Answers refused for their size'),
  downstream_cx_length_ms: histogram('Life of connections', 'ms'),
  downstream_rq_time: histogram(
    'Time from the first byte of a request to the end of its answer',
    'ms',
  ),
});

/** Prefix: `http.<stat_prefix>.`, where the connection manager asks for it. */
export const ROUTE_LOOKUPS = defineTemplate('route_lookups', {
  downstream_rq_route_resolution_time_us: histogram(
    'Time that the search for its routes took a request',
    'us',
  ),
  downstream_rq_route_resolutions: histogram('Times that the route of a request was searched'),
});

/** Prefix: `http.<stat_prefix>.`, and `http.async-client.` for requests of the proxy's own. */
export const ROUTER = defineTemplate('router', {
  no_cluster: counter('Requests whose cluster does not exist'),
  no_route: counter('Requests without a matching route'),
  passthrough_internal_redirect_bad_location: counter('Redirects passed on for their location'),
  passthrough_internal_redirect_no_route: counter('Redirects passed on for want of a route'),
  passthrough_internal_redirect_predicate: counter('Redirects passed on by a predicate'),
  passthrough_internal_redirect_too_many_redirects: counter('Redirects passed on for their number'),
  passthrough_internal_redirect_unsafe_scheme: counter('Redirects passed on for their scheme'),
  rq_direct_response: counter('Requests answered by the route itself'),
  rq_overload_local_reply: counter('Requests answered by overload'),
  rq_redirect: counter('Never counted: neither by Envoy'),
  rq_reset_after_downstream_response_started: counter(
    'Requests reset after their answer had begun',
  ),
  rq_total: counter('Requests routed'),
});

/** Prefix: `http.<stat_prefix>.tracing.`; for every connection manager but the admin's. */
export const TRACING = defineTemplate('tracing', {
  client_enabled: counter('Requests whose client forced a trace'),
  health_check: counter('Requests not traced: health checks'),
  not_traceable: counter('Requests not traced: unusable request id'),
  random_sampling: counter('Requests sampled'),
  service_forced: counter('Traces forced by the service'),
});

/**
 * Prefix: `http.<stat_prefix>.`; there from the first answer on that is not sent as it was made.
 */
export const ANSWER_DOOR = defineTemplate('answer_door', {
  rs_unfit_parts_dropped: counter('Parts of answers not sent: no such header or status may leave'),
});

/** Prefix: `listener.<listener>.http.<stat_prefix>.` */
export const LISTENER_HTTP = defineTemplate('listener_http', {
  downstream_rq_1xx: counter('Answers with a 1xx status'),
  downstream_rq_2xx: counter('Answers with a 2xx status'),
  downstream_rq_3xx: counter('Answers with a 3xx status'),
  downstream_rq_4xx: counter('Answers with a 4xx status'),
  downstream_rq_5xx: counter('Answers with a 5xx status'),
  downstream_rq_completed: counter('Requests that got an answer'),
});
