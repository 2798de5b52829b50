/** The Datadog tracer. Source: envoy.config.trace.v3.DatadogConfig. */
export interface DatadogTracerConfig {
  readonly kind: 'datadog';
  readonly cluster: string;
  readonly authority: string;
  readonly serviceName: string;
  readonly version: string;
}
