/**
 * The access logger that speaks the OpenTelemetry protocol. Source:
 * envoy.extensions.access_loggers.open_telemetry.v3.
 */
import type { AccessLogFilter } from '../access-log.ts';
import type { Exporter, ResourceAttributes } from '../telemetry/collector.ts';
import type { CustomTag } from '../tracing/tracing.ts';

/** A value of a record: texts are formats. */
export type LogValue =
  | { readonly kind: 'text'; readonly format: string }
  | { readonly kind: 'list'; readonly items: readonly LogValue[] }
  | { readonly kind: 'map'; readonly entries: LogValues };

export type LogValues = readonly (readonly [name: string, value: LogValue])[];

export interface OpenTelemetryLogConfig {
  readonly kind: 'open_telemetry';
  readonly exporter: Exporter;
  readonly userAgent: string;
  /** The node's own labels begin it. */
  readonly hasBuiltInLabels: boolean;
  readonly logName: string;
  readonly resource: ResourceAttributes;
  readonly body?: LogValue;
  readonly attributes: LogValues;
  readonly customTags: readonly CustomTag[];
  /** Empty, or with a dot at its end. */
  readonly statPrefix: string;
  readonly flushIntervalMs: number;
  readonly bufferBytes: number;
  readonly filter?: AccessLogFilter;
}
