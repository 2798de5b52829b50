/** Resolves the sink that streams to a metrics service. */
import type { MetricsServiceConfig as Message } from '../../../shared/api/generated/envoy/config/metrics/v3/metrics_service.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveGrpcService } from '../grpc-service.ts';
import type { Scope } from '../scope.ts';
import type { MetricsServiceConfig } from '../../stats/sink-config.ts';

const FIELDS = knownFields<Message>([
  'grpc_service',
  'transport_api_version',
  'report_counters_as_deltas',
  'emit_tags_as_labels',
  'histogram_emit_mode',
  'batch_size',
]);

export function resolveMetricsService(
  message: Message,
  scope: Scope,
): MetricsServiceConfig | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { grpc_service: service } = message;
  const target = service && resolveGrpcService(service, scope.at('grpc_service'));
  if (target === undefined) return undefined;
  const mode = message.histogram_emit_mode ?? 'SUMMARY_AND_HISTOGRAM';
  return {
    kind: 'metrics_service',
    target,
    reportsDeltas: message.report_counters_as_deltas ?? false,
    tagsAsLabels: message.emit_tags_as_labels ?? false,
    emitsSummaries: mode !== 'HISTOGRAM',
    emitsHistograms: mode !== 'SUMMARY',
    batchSize: message.batch_size ?? 0,
  };
}
