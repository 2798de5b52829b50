/** Every tracer that a configuration may name, one line each. */
import type { TracerConfig } from '../../../shared/resources/tracing/tracers.ts';
import { ExtensionRegistry } from '../extensions.ts';
import { DATADOG_TRACER } from './datadog.ts';
import { OPENTELEMETRY_TRACER } from './opentelemetry.ts';
import { SKYWALKING_TRACER } from './skywalking.ts';
import { ZIPKIN_TRACER } from './zipkin.ts';

export const TRACERS = new ExtensionRegistry<TracerConfig>('envoy.tracers', 'tracer', {
  zipkin: ZIPKIN_TRACER,
  opentelemetry: OPENTELEMETRY_TRACER,
  datadog: DATADOG_TRACER,
  skywalking: SKYWALKING_TRACER,
});
