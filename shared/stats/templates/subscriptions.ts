/** Statistics of dynamic configuration. */
import { defineTemplate } from '../template.ts';
import { counter, histogram, ownGauge, textReadout } from './spec.ts';

/**
 * Prefixes: `cluster_manager.cds.`, `listener_manager.lds.`, `http.<stat_prefix>.rds.<name>.`,
 * `sds.<name>.` and the like; an EDS cluster has CLUSTER_SUBSCRIPTION.
 */
export const SUBSCRIPTION = defineTemplate('subscription', {
  init_fetch_timeout: counter('First fetches that timed out'),
  update_attempt: counter('Attempts to fetch'),
  update_failure: counter('Failed fetches'),
  update_rejected: counter('Refused updates'),
  update_success: counter('Applied updates'),
  update_time: ownGauge('Time of the last update in Unix milliseconds'),
  version: ownGauge('Hash of the version of the last applied update'),
  version_text: textReadout('Version of the last applied update'),
  update_duration: histogram('Time to apply an update', 'ms'),
});

/** The template for clusters and routes: same prefixes. */
export const CONFIG_RELOAD = defineTemplate('config_reload', {
  config_reload: counter('Changes of the configuration'),
  config_reload_time_ms: ownGauge('Time of the last change in Unix milliseconds'),
});

/** The template for routes: same prefixes. */
export const UPDATE_EMPTY = defineTemplate('update_empty', {
  update_empty: counter('Updates without resources'),
});

/** The template for scopes of routes: `http.<stat_prefix>.scoped_rds.<name>.` */
export const SCOPED_RDS = defineTemplate('scoped_rds', {
  all_scopes: ownGauge('Scopes'),
  on_demand_scopes: ownGauge('Scopes whose routes are only fetched when a request wants them'),
  active_scopes: ownGauge('Scopes whose routes were fetched'),
});

/** The template for what `google_grpc` leads to: `grpc.<stat_prefix>.` */
export const GRPC_CLIENT = defineTemplate('grpc_client', {
  google_grpc_client_creation: counter('Clients that were made'),
  streams_total: counter('Streams that were begun'),
  streams_closed_0: counter('Streams that ended well'),
  streams_closed_1: counter('Streams that were cancelled'),
  streams_closed_2: counter('Streams that ended for an unknown reason'),
  streams_closed_3: counter('Streams that ended with an invalid argument'),
  streams_closed_4: counter('Streams that exceeded their deadline'),
  streams_closed_5: counter('Streams whose target was not found'),
  streams_closed_6: counter('Streams whose target already existed'),
  streams_closed_7: counter('Streams that were not permitted'),
  streams_closed_8: counter('Streams that ended with a resource exhausted'),
  streams_closed_9: counter('Streams whose precondition failed'),
  streams_closed_10: counter('Streams that were aborted'),
  streams_closed_11: counter('Streams that ended out of range'),
  streams_closed_12: counter('Streams of methods that are not implemented'),
  streams_closed_13: counter('Streams that ended with an internal error'),
  streams_closed_14: counter('Streams whose target was not available'),
  streams_closed_15: counter('Streams that ended with data lost'),
  streams_closed_16: counter('Streams that were not authenticated'),
});

/**
 * The template for a stream to a control plane: `control_plane.` of the one that types share, else
 * behind the prefixes above.
 */
export const CONTROL_PLANE = defineTemplate('control_plane', {
  connected_state: ownGauge('Whether there is a stream to the control plane'),
  identifier: textReadout('Who the control plane says it is'),
  pending_requests: ownGauge('Requests that wait for the rate limit'),
  rate_limit_enforced: counter('Requests that had to wait for the rate limit'),
});
