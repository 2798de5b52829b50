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

/** Of clusters and routes: same prefixes. */
export const CONFIG_RELOAD = defineTemplate('config_reload', {
  config_reload: counter('Changes of the configuration'),
  config_reload_time_ms: ownGauge('Time of the last change in Unix milliseconds'),
});

/** Of routes: same prefixes. */
export const UPDATE_EMPTY = defineTemplate('update_empty', {
  update_empty: counter('Updates without resources'),
});

/** Of scopes of routes: `http.<stat_prefix>.scoped_rds.<name>.` */
export const SCOPED_RDS = defineTemplate('scoped_rds', {
  all_scopes: ownGauge('Scopes'),
  on_demand_scopes: ownGauge('Scopes whose routes are only fetched when a request wants them'),
  active_scopes: ownGauge('Scopes whose routes were fetched'),
});

/** Of a stream to a control plane: `control_plane.` of the one that types share, else behind the prefixes above. */
export const CONTROL_PLANE = defineTemplate('control_plane', {
  connected_state: ownGauge('Whether there is a stream to the control plane'),
  identifier: textReadout('Who the control plane says it is'),
  pending_requests: ownGauge('Requests that wait for the rate limit'),
  rate_limit_enforced: counter('Requests that had to wait for the rate limit'),
});
