/** Statistics of the server process: `server.`, watchdogs, files, the runtime and overload. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram, ownGauge } from './spec.ts';

/**
 * Prefix: `server.` What a parent epoch adds to memory and connections comes as fields of its own.
 */
export const SERVER = defineTemplate('server', {
  'compilation_settings.fips_mode': ownGauge('1 if the cryptography is a FIPS build'),
  concurrency: ownGauge('Workers'),
  days_until_first_cert_expiring: ownGauge('Days until the first certificate expires'),
  debug_assertion_failures: counter('Never counted: there is no debug build'),
  dropped_stat_flushes: counter('Flushes dropped: the one before was still under way'),
  dynamic_unknown_fields: counter('Unknown fields in dynamic configuration'),
  envoy_bug_failures: counter('Never counted: exceptions are counted under sluice'),
  envoy_notifications: counter('Never counted: there are none'),
  hot_restart_epoch: ownGauge('Hot restart epoch'),
  live: ownGauge('1 unless the server drains'),
  memory_allocated: ownGauge('Bytes in use on the heap'),
  memory_heap_size: ownGauge('Bytes reserved for the heap'),
  memory_physical_size: ownGauge('Bytes of physical memory'),
  parent_connections: ownGauge('Open connections of the parent epoch'),
  seconds_until_first_ocsp_response_expiring: ownGauge('Always 0: OCSP answers are not stapled'),
  state: ownGauge('0 live, 1 draining, 2 before initialisation, 3 initialising'),
  static_unknown_fields: counter('Unknown fields in static configuration'),
  stats_recent_lookups: ownGauge('Lookups of statistics by name'),
  total_connections: ownGauge('Open connections of all epochs'),
  uptime: ownGauge('Seconds since the start'),
  version: ownGauge('The build, as the first bytes of its revision'),
  wip_protos: counter('Uses of messages marked as work in progress'),
  initialization_time_ms: histogram('Time to initialise', 'ms'),
});

/**
 * Prefixes: `server.main_thread.`, `server.worker_<N>.`, and the totals `main_thread.` and
 * `workers.`.
 */
export const WATCHDOG = defineTemplate('watchdog', {
  watchdog_mega_miss: counter('Never counted: a worker that does not answer in time is killed'),
  watchdog_miss: counter('Never counted: a worker that does not answer in time is killed'),
});

/** Prefixes: `server.dispatcher.` and `listener_manager.worker_<N>.dispatcher.` on request. */
export const DISPATCHER = defineTemplate('dispatcher', {
  loop_duration_us: histogram('Never recorded: turns of the loop are not measured for it', 'us'),
  poll_delay_us: histogram('Never recorded: turns of the loop are not measured for it', 'us'),
});

/** Prefix: `filesystem.`; access log files. */
export const FILESYSTEM = defineTemplate('filesystem', {
  flushed_by_timer: counter('Writes begun by the timer'),
  reopen_failed: counter('Files that could not be opened again'),
  write_buffered: counter('Lines put into a buffer'),
  write_completed: counter('Writes to a file'),
  write_failed: counter('Failed writes to a file'),
  write_total_buffered: gauge('Bytes that wait in buffers'),
});

/** Prefix: `runtime.` */
export const RUNTIME = defineTemplate('runtime', {
  admin_overrides_active: ownGauge('1 while values set through the admin interface exist'),
  deprecated_feature_seen_since_process_start: ownGauge('Deprecated fields seen by this process'),
  deprecated_feature_use: counter('Uses of deprecated fields'),
  load_error: counter('Failed loads of a runtime layer'),
  load_success: counter('Loads of the runtime layers'),
  num_keys: ownGauge('Keys'),
  num_layers: ownGauge('Layers'),
  override_dir_exists: counter('Loads with an override directory'),
  override_dir_not_exists: counter('Loads without an override directory'),
});

/** Prefix: `envoy.overload_actions.` */
export const OVERLOAD_ACTIONS = defineTemplate('overload_actions', {
  'reset_high_memory_stream.count': counter('Streams reset to free memory'),
});

/** Prefix: `sluice.worker.`; defined with the first exception. */
export const WORKER_EXCEPTIONS = defineTemplate('worker_exceptions', {
  exceptions: counter('Exceptions that ended a request or a connection, or were caught elsewhere'),
});

/** Prefix: `overload.` */
export const OVERLOAD = defineTemplate('overload', {
  refresh_interval_delay: histogram('Delay of the refresh of the overload monitors', 'ms'),
});

/** Prefix: `overload.<monitor>.` */
export const OVERLOAD_MONITOR = defineTemplate('overload_monitor', {
  failed_updates: counter('Times that the pressure could not be read'),
  pressure: ownGauge('Pressure in percent'),
  skipped_updates: counter('Never counted: a reading ends before the next begins'),
});

/** Prefix: `overload.<action>.` */
export const OVERLOAD_ACTION = defineTemplate('overload_action', {
  active: ownGauge('1 while the action is in force in full'),
  scale_percent: ownGauge('How much of the action is in force'),
});

/** Prefix: `overload.<load shed point>.`; workers count there by the same name. */
export const OVERLOAD_SHED_POINT = defineTemplate('overload_shed_point', {
  scale_percent: ownGauge('How much of the work is refused at this point'),
  shed_load_count: counter('Pieces of work refused at this point'),
});

/** Prefix: `overload.envoy.overload_actions.shrink_heap.` */
export const OVERLOAD_SHRINK = defineTemplate('overload_shrink', {
  shrink_count: counter('Never counted: the runtime decides when memory is given back'),
});
