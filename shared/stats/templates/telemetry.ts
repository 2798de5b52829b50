/** Statistics of what sends to collectors: tracers, which count by their kind, and access logs. */
import { defineTemplate } from '../template.ts';
import { counter, gauge } from './spec.ts';

/** Prefix: `tracing.zipkin.` */
export const ZIPKIN_TRACER = defineTemplate('zipkin_tracer', {
  spans_sent: counter('Spans sent to collectors'),
  timer_flushed: counter('Times that the interval of sending passed'),
  reports_skipped_no_cluster: counter('Reports not sent: no such cluster'),
  reports_sent: counter('Reports that were accepted'),
  reports_dropped: counter('Reports that a collector refused, or had no room for'),
  reports_failed: counter('Reports that could not be sent'),
});

/** Prefix: `tracing.opentelemetry.` */
export const OPENTELEMETRY_TRACER = defineTemplate('opentelemetry_tracer', {
  spans_sent: counter('Spans sent to collectors'),
  spans_dropped: counter('Spans dropped: too many waited'),
  timer_flushed: counter('Times that the interval of sending passed'),
});

/** Prefix: `tracing.datadog.` */
export const DATADOG_TRACER = defineTemplate('datadog_tracer', {
  reports_skipped_no_cluster: counter('Reports not sent: no such cluster'),
  reports_sent: counter('Reports that were accepted'),
  reports_dropped: counter('Reports dropped: the collector could not take them'),
  reports_failed: counter('Reports that failed'),
});

/** Prefix: `tracing.skywalking.` */
export const SKYWALKING_TRACER = defineTemplate('skywalking_tracer', {
  cache_flushed: counter('Times that waiting segments were sent'),
  segments_dropped: counter('Segments dropped: too many waited'),
  segments_flushed: counter('Segments sent that had waited'),
  segments_sent: counter('Segments sent to services'),
});

/** Prefix: `access_logs.open_telemetry_access_log.`, and a log's own. */
export const OTLP_ACCESS_LOG = defineTemplate('otlp_access_log', {
  logs_dropped: counter('Records dropped: too many waited'),
  logs_written: counter('Records sent to collectors'),
});

/** Prefix: `access_logs.script.<stat_prefix>.` */
export const SCRIPT_LOG = defineTemplate('script_log', {
  entries: counter('Entries that the module was given'),
  dropped: counter('Entries that it was not given: too many waited, or it was switched off'),
  errors: counter('Exceptions and rejected promises of the module'),
  load_failures: counter('Versions of the module that could not be loaded'),
  disabled: gauge('1 while the module is switched off after it held a worker', 'accumulate'),
});

/** Prefix: `access_logs.grpc_access_log.` */
export const GRPC_ACCESS_LOG = defineTemplate('grpc_access_log', {
  grpc_entries_flush_failed: counter('Entries that could not be sent when it was their time'),
  grpc_entries_flushed: counter('Entries given to a stream'),
  logs_dropped: counter('Entries for which there was no room'),
  logs_written: counter('Entries of requests taken'),
});
