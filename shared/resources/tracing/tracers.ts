/** Every tracer, one line each: what workers may receive and have a row for. */
import type { DatadogTracerConfig } from './datadog.ts';
import type { OpenTelemetryTracerConfig } from './opentelemetry.ts';
import type { SkyWalkingTracerConfig } from './skywalking.ts';
import type { ZipkinTracerConfig } from './zipkin.ts';

export type TracerConfig =
  | ZipkinTracerConfig
  | OpenTelemetryTracerConfig
  | DatadogTracerConfig
  | SkyWalkingTracerConfig;
