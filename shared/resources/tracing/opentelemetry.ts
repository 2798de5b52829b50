/** The OpenTelemetry tracer. Source: envoy.config.trace.v3.OpenTelemetryConfig. */
import type { Exporter, ResourceAttributes } from '../telemetry/collector.ts';
import type { RuntimeFraction } from '../routes/matchers.ts';

export type Sampler =
  | { readonly kind: 'always_on' }
  | { readonly kind: 'ratio'; readonly share: RuntimeFraction }
  /** As the parent was; roots as the other sampler says. */
  | { readonly kind: 'parent_based'; readonly root: Sampler };

export interface OpenTelemetryTracerConfig {
  readonly kind: 'opentelemetry';
  readonly exporter: Exporter;
  readonly resource: ResourceAttributes;
  /** Absent: the connection manager's sampling decides. */
  readonly sampler?: Sampler;
  /** Spans that may wait. */
  readonly spansMax: number;
  /** Absent: spans do not say what made them. */
  readonly scope?: { readonly name: string; readonly version: string };
  readonly userAgent: string;
}
