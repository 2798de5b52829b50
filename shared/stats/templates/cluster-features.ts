/** Statistics of a cluster that exist only where the feature they belong to is configured. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram, ownGauge, textReadout } from './spec.ts';

/** Prefix: `cluster.<name>.health_check.` */
export const HEALTH_CHECK = defineTemplate('health_check', {
  attempt: counter('Health checks made'),
  degraded: ownGauge('Hosts that answer as degraded'),
  failure: counter('Failed health checks, network failures included'),
  healthy: ownGauge('Hosts that pass the health check'),
  network_failure: counter('Health checks that failed in the network'),
  passive_failure: counter('Health checks failed by an ordinary answer'),
  success: counter('Passed health checks'),
  verify_cluster: counter('Health checks that verified the name of the service'),
});

/** Prefix: `cluster.<name>.health_check.redis.` */
export const REDIS_CHECK = defineTemplate('redis_check', {
  exists_failure: counter('Hosts that had the key that they must not have'),
});

/**
 * Prefix: `cluster.<name>.health_check.`, where there are several checks, each with figures of its
 * own.
 */
export const HEALTH_CHECK_TOTALS = defineTemplate('health_check_totals', {
  degraded: ownGauge('Hosts that answer a check as degraded'),
  healthy: ownGauge('Hosts that pass all health checks'),
});

/** Prefix: `cluster.<name>.outlier_detection.` */
export const OUTLIER_DETECTION = defineTemplate('outlier_detection', {
  ejections_active: gauge('Ejected hosts'),
  ejections_consecutive_5xx: counter('Ejections for 5xx answers in a row'),
  ejections_detected_consecutive_5xx: counter('Hosts found with 5xx answers in a row'),
  ejections_detected_consecutive_gateway_failure: counter(
    'Hosts found with gateway errors in a row',
  ),
  ejections_detected_consecutive_local_origin_failure: counter(
    'Hosts found with local errors in a row',
  ),
  ejections_detected_degradation: counter('Hosts found to be degraded'),
  ejections_detected_failure_percentage: counter('Hosts found with a high share of failures'),
  ejections_detected_local_origin_failure_percentage: counter(
    'Hosts found with a high share of local errors',
  ),
  ejections_detected_local_origin_success_rate: counter(
    'Hosts found with unusually many local errors',
  ),
  ejections_detected_success_rate: counter('Hosts found with an unusually low success rate'),
  ejections_enforced_consecutive_5xx: counter('Hosts ejected for 5xx answers in a row'),
  ejections_enforced_consecutive_gateway_failure: counter(
    'Hosts ejected for gateway errors in a row',
  ),
  ejections_enforced_consecutive_local_origin_failure: counter(
    'Hosts ejected for local errors in a row',
  ),
  ejections_enforced_failure_percentage: counter('Hosts ejected for a high share of failures'),
  ejections_enforced_local_origin_failure_percentage: counter(
    'Hosts ejected for a high share of local errors',
  ),
  ejections_enforced_local_origin_success_rate: counter('Hosts ejected for many local errors'),
  ejections_enforced_success_rate: counter('Hosts ejected for a low success rate'),
  ejections_enforced_total: counter('Hosts ejected'),
  ejections_overflow: counter('Ejections not made: too many hosts are ejected'),
  ejections_success_rate: counter('Ejections for a low success rate'),
  ejections_total: counter('Ejections'),
});

/** Prefix: `cluster.<name>.ring_hash_lb.` */
export const RING_HASH = defineTemplate('ring_hash', {
  max_hashes_per_host: ownGauge('Most hashes of one host'),
  min_hashes_per_host: ownGauge('Fewest hashes of one host'),
  size: ownGauge('Hashes on the ring'),
});

/** Prefix: `cluster.<name>.maglev_lb.` */
export const MAGLEV = defineTemplate('maglev', {
  max_entries_per_host: ownGauge('Most table entries of one host'),
  min_entries_per_host: ownGauge('Fewest table entries of one host'),
});

/** Prefix: `cluster.<name>.lb_orca_oob.`; with `enable_oob_load_report`. */
export const ORCA_OOB = defineTemplate('orca_oob', {
  active_sessions: gauge('Hosts that are asked for reports of their load'),
  report_errors: counter('Reports that could not be read'),
  reports_received: counter('Reports of load'),
  stream_failures: counter('Streams of reports that broke or were refused'),
  stream_terminated: counter('Streams of reports that hosts ended'),
});

/** Prefix: `cluster.<name>.load_aware_locality.`; one for each period, whatever it applies to. */
export const LOAD_AWARE_LOCALITY = defineTemplate('load_aware_locality', {
  all_overloaded_total: counter('Periods in which no locality had anything left'),
  local_preferred_total: counter('Periods in which the own locality kept its requests'),
  probe_active_total: counter('Periods in which others were asked to hear of their load'),
  recompute_total: counter('Periods'),
  spill_active_total: counter('Periods in which the own locality was too busy'),
  stale_locality_total: counter('Localities without recent reports, each period'),
});

/** Prefix: `cluster.<name>.`; with subsets. */
export const SUBSETS = defineTemplate('subsets', {
  lb_subsets_single_host_per_subset_duplicate: gauge(
    'Always 0: a second host of a subset is refused',
  ),
});

/** Prefix: `cluster.<name>.`; with `track_timeout_budgets`. */
export const TIMEOUT_BUDGETS = defineTemplate('timeout_budgets', {
  upstream_rq_timeout_budget_per_try_percent_used: histogram(
    'Share of the time of an attempt used',
  ),
  upstream_rq_timeout_budget_percent_used: histogram('Share of the time of a request used'),
});

/** Prefix: `cluster.<name>.`; with `request_response_sizes`. */
export const REQUEST_RESPONSE_SIZES = defineTemplate('request_response_sizes', {
  upstream_rq_body_size: histogram('Sizes of request bodies', 'bytes'),
  upstream_rq_headers_count: histogram('Headers per request'),
  upstream_rq_headers_size: histogram('Sizes of request headers', 'bytes'),
  upstream_rs_body_size: histogram('Sizes of response bodies', 'bytes'),
  upstream_rs_headers_count: histogram('Headers per response'),
  upstream_rs_headers_size: histogram('Sizes of response headers', 'bytes'),
});

/**
 * Prefix: `cluster.<name>.` of an EDS cluster, whose CLUSTER block has the other `update_*` and
 * `version`.
 */
export const CLUSTER_SUBSCRIPTION = defineTemplate('cluster_subscription', {
  init_fetch_timeout: counter('First fetches that timed out'),
  update_rejected: counter('Refused updates'),
  update_time: ownGauge('Time of the last update in Unix milliseconds'),
  version_text: textReadout('Version of the last applied update'),
  update_duration: histogram('Time to apply an update', 'ms'),
});

/** Prefix: `vhost.<host>.vcluster.<name>.` and `vhost.<host>.route.<stat_prefix>.` */
export const VIRTUAL_CLUSTER = defineTemplate('virtual_cluster', {
  upstream_rq_retry: counter('Retries'),
  upstream_rq_retry_limit_exceeded: counter('Requests not retried: no try is left'),
  upstream_rq_retry_overflow: counter('Requests not retried: the retry limit is reached'),
  upstream_rq_retry_success: counter('Retries that succeeded'),
  upstream_rq_timeout: counter('Requests that timed out'),
  upstream_rq_total: counter('Requests'),
});

/** Prefix: `dns.cares.`; once a cluster resolves names. */
export const DNS_RESOLVER = defineTemplate('dns_resolver', {
  get_addr_failure: counter('Failed resolutions'),
  not_found: counter('Names without an address'),
  pending_resolutions: ownGauge('Resolutions under way'),
  reinits: counter('Times the resolver was set up again'),
  resolve_total: counter('Resolutions'),
  timeouts: counter('Resolutions that timed out'),
});

/** Prefix: `dns_cache.<name>.`; names that requests asked for. */
export const DNS_CACHE = defineTemplate('dns_cache', {
  cache_load: counter('Names taken from a store'),
  dns_address_filter_out: counter('Addresses left out by a filter'),
  dns_query_attempt: counter('Lookups begun'),
  dns_query_failure: counter('Failed lookups'),
  dns_query_success: counter('Answered lookups, also those without an address'),
  dns_query_timeout: counter('Lookups that took too long'),
  dns_rq_pending_overflow: counter('Requests refused: too many wait for a name'),
  host_added: counter('Names added'),
  host_address_changed: counter('Names that got another address'),
  host_overflow: counter('Requests refused: there are too many names'),
  host_removed: counter('Names removed'),
  num_hosts: ownGauge('Names now'),
});

/** Prefix: `dns_cache.<name>.circuit_breakers.` */
export const DNS_CACHE_BREAKER = defineTemplate('dns_cache_breaker', {
  rq_pending_open: ownGauge('1 while no further request may wait for a name'),
  rq_pending_remaining: ownGauge('Requests that may still wait for a name'),
});
