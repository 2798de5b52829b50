/** Resolves envoy.config.trace.v3.OpenTelemetryConfig. */
import type { OpenTelemetryConfig } from '../../../shared/api/generated/envoy/config/trace/v3/opentelemetry.ts';
import type { OpenTelemetryTracerConfig } from '../../../shared/resources/tracing/opentelemetry.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { exporterUserAgent, resolveExporter, serverVersion } from '../telemetry/exporter.ts';
import { resolveResource } from '../telemetry/resource-detectors.ts';
import { optional } from '../values.ts';
import { SAMPLERS } from './samplers.ts';

const FIELDS = knownFields<OpenTelemetryConfig>([
  'grpc_service',
  'http_service',
  'service_name',
  'resource_detectors',
  'sampler',
  'max_cache_size',
  'set_telemetry_sdk_resource_attributes',
  'set_service_name_resource_attribute',
  'set_instrumentation_scope',
]);
const SERVICE_NAME = 'unknown_service:envoy';
const SPANS_MAX = 1024;

export const OPENTELEMETRY_TRACER = extension(
  'envoy.tracers.opentelemetry',
  'envoy.config.trace.v3.OpenTelemetryConfig',
  resolveOpenTelemetry,
);

function resolveOpenTelemetry(
  message: OpenTelemetryConfig,
  scope: Scope,
): OpenTelemetryTracerConfig | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const exporters = [message.grpc_service, message.http_service, message.exporter];
  if (exporters.filter((each) => each !== undefined).length !== 1) {
    scope.error(
      'conflict',
      'OpenTelemetry Tracer must have exactly one of gRPC, HTTP, or custom exporter configured.',
    );
  }
  const exporter = resolveExporter(message, scope);
  const { sampler, service_name: name = '', max_cache_size: cache = 0 } = message;
  const serviceName = name === '' ? SERVICE_NAME : name;
  const resource = resolveResource(
    {
      detectors: message.resource_detectors,
      serviceName: (message.set_service_name_resource_attribute ?? true) ? serviceName : undefined,
      namesSdk: message.set_telemetry_sdk_resource_attributes ?? true,
    },
    scope.at('resource_detectors'),
  );
  const hasScope = message.set_instrumentation_scope ?? true;
  const resolvedSampler = sampler && SAMPLERS.resolve(sampler, scope.at('sampler'));
  if (exporter === undefined) return undefined;
  return {
    kind: 'opentelemetry',
    exporter,
    resource,
    ...optional('sampler', resolvedSampler),
    spansMax: cache === 0 ? SPANS_MAX : cache,
    ...(hasScope ? { scope: { name: 'envoy', version: serverVersion() } } : {}),
    userAgent: exporterUserAgent(),
  };
}
