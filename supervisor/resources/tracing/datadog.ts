/** Resolves envoy.config.trace.v3.DatadogConfig. */
import type { DatadogConfig } from '../../../shared/api/generated/envoy/config/trace/v3/datadog.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { DatadogTracerConfig } from '../../../shared/resources/tracing/datadog.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { serverVersion } from '../telemetry/exporter.ts';
import { checkTracerCluster } from './tracer-cluster.ts';

const FIELDS = knownFields<DatadogConfig>([
  'collector_cluster',
  'service_name',
  'collector_hostname',
]);
const NAME = 'envoy.tracers.datadog';

export const DATADOG_TRACER = extension(
  NAME,
  'envoy.config.trace.v3.DatadogConfig',
  (message: DatadogConfig, scope): DatadogTracerConfig => {
    refuseOtherFields(message, FIELDS, scope);
    const { collector_cluster: cluster = '', collector_hostname: host = '' } = message;
    checkTracerCluster(NAME, cluster, scope.at('collector_cluster'));
    return {
      kind: 'datadog',
      cluster,
      authority: toByteString(host === '' ? cluster : host),
      serviceName: message.service_name ?? '',
      version: serverVersion(),
    };
  },
);
