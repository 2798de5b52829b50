/** Statistics of listeners and of the listener manager. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram, ownGauge } from './spec.ts';

/**
 * Prefix: `listener.<stat_prefix or address with ':' as '_'>.`, and `listener.admin.` for the admin
 * listener, which has no LISTENER_EXTENSIONS.
 */
export const LISTENER = defineTemplate('listener', {
  downstream_cx_active: gauge('Open connections'),
  downstream_cx_destroy: counter('Closed connections'),
  downstream_cx_overflow: counter("Connections refused by the listener's limit"),
  downstream_cx_overload_reject: counter('Connections refused by overload'),
  downstream_cx_total: counter('Connections'),
  downstream_cx_transport_socket_connect_timeout: counter('Handshakes that timed out'),
  downstream_global_cx_overflow: counter('Connections refused by the global limit'),
  downstream_listener_filter_error: counter('Connections closed by an error in a listener filter'),
  downstream_listener_filter_remote_close: counter('Connections closed by the client in a filter'),
  downstream_pre_cx_active: gauge('Sockets that wait for listener filters'),
  downstream_pre_cx_timeout: counter('Sockets that waited too long for listener filters'),
  no_filter_chain_match: counter('Connections without a matching filter chain'),
  connections_accepted_per_socket_event: histogram('Connections accepted per event of the socket'),
  downstream_cx_length_ms: histogram('Life of connections', 'ms'),
});

/** Prefix: as LISTENER; for every listener but the admin's. */
export const LISTENER_EXTENSIONS = defineTemplate('listener_extensions', {
  extension_config_missing: counter('Never counted: listener filters are not fetched'),
  network_extension_config_missing: counter('Never counted: network filters are not fetched'),
});

/**
 * Prefix: `listener.<listener>.worker_<N>.`, for the admin listener `listener.admin.main_thread.`
 */
export const LISTENER_WORKER = defineTemplate('listener_worker', {
  downstream_cx_active: gauge('Open connections of this worker'),
  downstream_cx_total: counter('Connections of this worker'),
});

/** Prefix: `listener_manager.` */
export const LISTENER_MANAGER = defineTemplate('listener_manager', {
  listener_added: counter('Listeners added'),
  listener_create_failure: counter('Listeners that a worker could not make'),
  listener_create_success: counter('Listeners that a worker made'),
  listener_in_place_updated: counter('Listeners updated filter chain by filter chain'),
  listener_modified: counter('Listeners changed'),
  listener_removed: counter('Listeners removed'),
  listener_stopped: counter('Listeners stopped'),
  total_filter_chains_draining: ownGauge('Filter chains that drain'),
  total_listeners_active: ownGauge('Listeners that accept'),
  total_listeners_draining: ownGauge('Listeners that drain'),
  total_listeners_warming: ownGauge('Listeners that wait for what they need'),
  workers_pinned: ownGauge('Always 0: workers are not bound to processors'),
  workers_started: ownGauge('1 once the workers have started'),
});
