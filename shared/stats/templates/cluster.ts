/**
 * Statistics below `cluster.<name>.`: one CLUSTER block per cluster, further blocks where a feature
 * of the cluster is configured. Statistics by response code are defined by name on first use.
 */
import { defineTemplate } from '../template.ts';
import { counter, flag, gauge, histogram, ownGauge } from './spec.ts';

/**
 * The five circuit breaker gauges per priority. Their order is the same for both priorities, so a
 * breaker's gauge is at `base + CIRCUIT_BREAKERS[priority] + CIRCUIT_BREAKER.<name>`.
 */
export const CIRCUIT_BREAKER = {
  cx_open: 0,
  cx_pool_open: 1,
  rq_open: 2,
  rq_pending_open: 3,
  rq_retry_open: 4,
} as const;

/** Prefix: `cluster.<alt_stat_name or name>.` */
export const CLUSTER = defineTemplate('cluster', {
  assignment_stale: counter('Endpoint assignments whose lifetime ran out before a new one came'),
  assignment_timeout_received: counter('Endpoint assignments that came with a lifetime'),
  assignment_use_cached: counter('Never counted: endpoints are not kept for later'),
  bind_errors: counter('Upstream sockets that could not be bound to the configured source address'),
  'circuit_breakers.default.cx_open': flag('1 while the connection limit is reached'),
  'circuit_breakers.default.cx_pool_open': flag('1 while the connection pool limit is reached'),
  'circuit_breakers.default.rq_open': flag('1 while the request limit is reached'),
  'circuit_breakers.default.rq_pending_open': flag('1 while the pending request limit is reached'),
  'circuit_breakers.default.rq_retry_open': flag('1 while the retry limit is reached'),
  'circuit_breakers.high.cx_open': flag('1 while the connection limit is reached'),
  'circuit_breakers.high.cx_pool_open': flag('1 while the connection pool limit is reached'),
  'circuit_breakers.high.rq_open': flag('1 while the request limit is reached'),
  'circuit_breakers.high.rq_pending_open': flag('1 while the pending request limit is reached'),
  'circuit_breakers.high.rq_retry_open': flag('1 while the retry limit is reached'),
  lb_healthy_panic: counter('Balancing decisions made in panic mode, over all hosts'),
  lb_local_cluster_not_ok: counter('Zone aware decisions given up: the local cluster is in panic'),
  lb_recalculate_zone_structures: counter('Recomputations of the zone aware routing tables'),
  lb_subsets_active: gauge('Host subsets that exist now'),
  lb_subsets_created: counter('Host subsets made'),
  lb_subsets_fallback: counter('Decisions made by the fallback policy of the subset balancer'),
  lb_subsets_fallback_panic: counter('Decisions made by the panic mode of the subset fallback'),
  lb_subsets_removed: counter('Host subsets dropped since their last host went away'),
  lb_subsets_selected: counter('Decisions made inside a matching subset'),
  lb_zone_cluster_too_small: counter('Decisions without zones: the cluster has too few hosts'),
  lb_zone_no_capacity_left: counter(
    'Zone aware decisions that ended at random for want of capacity',
  ),
  lb_zone_routing_all_directly: counter('Requests all sent to the local zone'),
  lb_zone_routing_cross_zone: counter('Requests sent to another zone'),
  lb_zone_routing_sampled: counter('Requests of which a share stays in the local zone'),
  max_host_weight: ownGauge('Largest weight of a host'),
  membership_change: counter('Changes of the set of hosts'),
  membership_degraded: ownGauge('Degraded hosts'),
  membership_excluded: ownGauge('Hosts left out of balancing'),
  membership_healthy: ownGauge('Healthy hosts'),
  membership_total: ownGauge('Hosts'),
  original_dst_host_invalid: counter('Invalid original destination addresses'),
  retry_or_shadow_abandoned: counter(
    'Retries and mirrored requests given up: the body is too large',
  ),
  update_attempt: counter('Attempts to refresh the set of hosts'),
  update_empty: counter('Refreshes that left the set of hosts as it was for want of an answer'),
  update_failure: counter('Failed refreshes of the set of hosts'),
  update_no_rebuild: counter('Successful refreshes that changed nothing'),
  update_success: counter('Successful refreshes of the set of hosts'),
  upstream_cx_active: gauge('Open connections'),
  upstream_cx_close_notify: counter('Connections closed on a close or GOAWAY of the upstream'),
  upstream_cx_connect_attempts_exceeded: counter('Connections given up after too many attempts'),
  upstream_cx_connect_fail: counter('Failed connection attempts'),
  upstream_cx_connect_timeout: counter('Connection attempts that timed out'),
  upstream_cx_connect_with_0_rtt: counter('Never counted: HTTP/3 is not served'),
  upstream_cx_destroy: counter('Closed connections'),
  upstream_cx_destroy_local: counter('Connections closed by this side'),
  upstream_cx_destroy_local_with_active_rq: counter('Connections closed by this side in a request'),
  upstream_cx_destroy_remote: counter('Connections closed by the upstream'),
  upstream_cx_destroy_remote_with_active_rq: counter(
    'Connections closed by the upstream in a request',
  ),
  upstream_cx_destroy_with_active_rq: counter('Connections closed with at least one open request'),
  upstream_cx_http1_total: counter('HTTP/1 connections made'),
  upstream_cx_http2_total: counter('HTTP/2 connections made'),
  upstream_cx_http3_total: counter('Never counted: HTTP/3 is not served'),
  upstream_cx_idle_timeout: counter('Connections closed for being idle'),
  upstream_cx_max_duration_reached: counter('Connections closed for their age'),
  upstream_cx_max_requests: counter('Connections closed after their last allowed request'),
  upstream_cx_none_healthy: counter('Connections not made since no host was healthy'),
  upstream_cx_overflow: counter('Connections refused by the connection limit'),
  upstream_cx_pool_overflow: counter('Connection pools refused by the pool limit'),
  upstream_cx_preconnect_skipped: counter(
    'Never counted: connections are made ahead to healthy hosts alone',
  ),
  upstream_cx_protocol_error: counter('Connections ended by a protocol error of the upstream'),
  upstream_cx_rx_bytes_buffered: gauge('Received bytes that wait in connections'),
  upstream_cx_rx_bytes_total: counter('Bytes received'),
  upstream_cx_total: counter('Connections made'),
  upstream_cx_tx_bytes_buffered: gauge('Always 0: the runtime and the kernel keep what waits'),
  upstream_cx_tx_bytes_total: counter('Bytes sent'),
  upstream_flow_control_backed_up_total: counter(
    'Times reading downstream stopped: upstream is full',
  ),
  upstream_flow_control_drained_total: counter(
    'Times reading downstream resumed: upstream drained',
  ),
  upstream_flow_control_paused_reading_total: counter('Times reading from the upstream stopped'),
  upstream_flow_control_resumed_reading_total: counter('Times reading from the upstream resumed'),
  upstream_http3_broken: counter('Never counted: HTTP/3 is not served'),
  upstream_internal_redirect_failed_total: counter(
    'Redirects passed downstream, not followed here',
  ),
  upstream_internal_redirect_succeeded_total: counter('Redirects followed here'),
  upstream_queue_overloaded: flag('Always 0: nothing marks the queue as overloaded'),
  upstream_rq_0rtt: counter('Never counted: HTTP/3 is not served'),
  upstream_rq_active: gauge('Open requests'),
  upstream_rq_active_overflow: counter('Requests refused by the request limit'),
  upstream_rq_cancelled: counter('Requests cancelled before a connection was found'),
  upstream_rq_completed: counter('Completed requests'),
  upstream_rq_maintenance_mode: counter('Never counted: there is no maintenance mode'),
  upstream_rq_max_duration_reached: counter('Requests closed for their age'),
  upstream_rq_pending_active: gauge('Requests that wait for a connection'),
  upstream_rq_pending_failure_eject: counter('Waiting requests failed with their connection'),
  upstream_rq_pending_overflow: counter('Requests refused by the pending or request limit'),
  upstream_rq_pending_total: counter('Requests that waited for a connection'),
  upstream_rq_per_try_idle_timeout: counter('Tries that were idle for too long'),
  upstream_rq_per_try_timeout: counter('Tries that timed out'),
  upstream_rq_retry: counter('Retries'),
  upstream_rq_retry_backoff_exponential: counter('Retries after an exponential back-off'),
  upstream_rq_retry_backoff_ratelimited: counter(
    'Retries after a back-off that the upstream asked for',
  ),
  upstream_rq_retry_limit_exceeded: counter('Requests not retried: no try is left'),
  upstream_rq_retry_overflow: counter('Requests not retried: the retry limit is reached'),
  upstream_rq_retry_success: counter('Retries that succeeded'),
  upstream_rq_rx_reset: counter('Requests reset by the upstream'),
  upstream_rq_rx_reset_no_error: counter('Never counted: they are among upstream_rq_rx_reset'),
  upstream_rq_timeout: counter('Requests that timed out'),
  upstream_rq_total: counter('Requests'),
  upstream_rq_tx_reset: counter('Requests reset by this side'),
  version: ownGauge('Hash of the last applied endpoint assignment'),
  warming_state: ownGauge('1 while the cluster waits for its first hosts'),
  upstream_cx_connect_ms: histogram('Time to connect', 'ms'),
  upstream_cx_length_ms: histogram('Life of connections', 'ms'),
  upstream_rq_per_cx: histogram('Requests per connection'),
});

/** Offset of each priority's breakers within a CLUSTER block; see CIRCUIT_BREAKER. */
export const CIRCUIT_BREAKERS = {
  default: CLUSTER.index['circuit_breakers.default.cx_open'],
  high: CLUSTER.index['circuit_breakers.high.cx_open'],
} as const;

/** Prefix: `cluster.<name>.circuit_breakers.<priority>.`; only with `track_remaining`. */
export const CIRCUIT_BREAKER_REMAINING = defineTemplate('circuit_breaker_remaining', {
  remaining_cx: gauge('Connections left until the limit'),
  remaining_cx_pools: { ...gauge('Connection pools left until the limit'), wraps: true },
  remaining_pending: gauge('Pending requests left until the limit'),
  remaining_retries: gauge('Retries left until the limit'),
  remaining_rq: gauge('Requests left until the limit'),
});

/** Prefix: `cluster.<name>.<transport socket match>.`; without matches the name is `default`. */
export const TRANSPORT_SOCKET_MATCH = defineTemplate('transport_socket_match', {
  total_match_count: counter('Hosts that use this transport socket'),
});

/** Prefix: `cluster.<name>.script.`; only with a balancer that is a module. */
export const SCRIPT_BALANCER = defineTemplate('script_balancer', {
  picks: counter('Hosts that the module chose'),
  fallbacks: counter('Choices that were left to the fallback policy'),
  errors: counter('Exceptions of the module, and hosts that are not in the cluster'),
  load_failures: counter('Versions of the module that could not be loaded'),
  disabled: gauge('1 while the module is switched off after it held a worker', 'accumulate'),
});

/**
 * Per-host figures for `/clusters`, never in `/stats`. Prefix: `host.<cluster>.<address>.`, for
 * example `host.web.127.0.0.1:8080.`
 */
export const HOST = defineTemplate(
  'host',
  {
    cx_active: gauge('Open connections'),
    cx_connect_fail: counter('Failed connection attempts'),
    cx_total: counter('Connections made'),
    rq_active: gauge('Open requests'),
    rq_pending_active: gauge('Requests that wait for a connection'),
    rq_error: counter('Requests that failed or got a 5xx status'),
    rq_success: counter('Requests that got another status'),
    rq_timed: counter('Requests whose answer came whole'),
    rq_timeout: counter('Requests that timed out'),
    rq_took_ms: counter('Milliseconds that those answers took, all together'),
    rq_total: counter('Requests'),
  },
  { internal: true },
);
