/** Resolves the sink that speaks the OpenTelemetry protocol. */
import type { SinkConfig as Message } from '../../../shared/api/generated/envoy/extensions/stat_sinks/open_telemetry/v3/open_telemetry.ts';
import type { OpenTelemetrySinkConfig } from '../../stats/sink-config.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { exporterUserAgent, resolveExporter } from '../telemetry/exporter.ts';
import { resolveResource } from '../telemetry/resource-detectors.ts';

const FIELDS = knownFields<Message>([
  'grpc_service',
  'http_service',
  'report_counters_as_deltas',
  'report_histograms_as_deltas',
  'emit_tags_as_attributes',
  'use_tag_extracted_name',
  'prefix',
  'resource_detectors',
  'max_data_points_per_request',
]);

export function resolveOpenTelemetrySink(
  message: Message,
  scope: Scope,
): OpenTelemetrySinkConfig | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const exporter = resolveExporter(message, scope);
  const { prefix = '', resource_detectors: detectors } = message;
  const origin = { detectors, serviceName: undefined, namesSdk: true };
  const resource = resolveResource(origin, scope.at('resource_detectors'));
  return (
    exporter && {
      kind: 'open_telemetry',
      exporter,
      userAgent: exporterUserAgent(),
      resource,
      reportsCounterDeltas: message.report_counters_as_deltas ?? false,
      reportsHistogramDeltas: message.report_histograms_as_deltas ?? false,
      tagsAsAttributes: message.emit_tags_as_attributes ?? true,
      usesExtractedNames: message.use_tag_extracted_name ?? true,
      prefix: prefix === '' ? '' : `${prefix}.`,
      pointsPerRequest: message.max_data_points_per_request ?? 0,
    }
  );
}
