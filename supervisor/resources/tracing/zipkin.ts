/** Resolves envoy.config.trace.v3.ZipkinConfig. */
import type { ZipkinConfig } from '../../../shared/api/generated/envoy/config/trace/v3/zipkin.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { CollectorService } from '../../../shared/resources/telemetry/collector.ts';
import type { ZipkinTracerConfig } from '../../../shared/resources/tracing/zipkin.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveHttpService } from '../telemetry/http-service.ts';
import { checkTracerCluster } from './tracer-cluster.ts';

const FIELDS = knownFields<ZipkinConfig>([
  'collector_cluster',
  'collector_endpoint',
  'trace_id_128bit',
  'shared_span_context',
  'collector_endpoint_version',
  'collector_hostname',
  'split_spans_for_request',
  'trace_context_option',
  'collector_service',
  'timestamp_trace_ids',
]);
const NAME = 'envoy.tracers.zipkin';
const TIMEOUT_MS = 5000;
/** The API's default means a version that Envoy has given up. */
const NO_VERSION =
  "type envoy.config.trace.v3.ZipkinConfig Using the default now-deprecated value DEPRECATED_AND_UNAVAILABLE_DO_NOT_USE for enum 'envoy.config.trace.v3.ZipkinConfig.collector_endpoint_version' (set it to HTTP_JSON or HTTP_PROTO)";

export const ZIPKIN_TRACER = extension(
  NAME,
  'envoy.config.trace.v3.ZipkinConfig',
  (message: ZipkinConfig, scope): ZipkinTracerConfig | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const version = message.collector_endpoint_version;
    if (version !== 'HTTP_JSON' && version !== 'HTTP_PROTO') {
      scope.at('collector_endpoint_version').error('conflict', NO_VERSION);
      return undefined;
    }
    const collector = resolveCollector(message, scope);
    return (
      collector && {
        kind: 'zipkin',
        collector,
        isProtobuf: version === 'HTTP_PROTO',
        has128BitIds: message.trace_id_128bit ?? false,
        hasTimestampIds: message.timestamp_trace_ids ?? false,
        sharesSpans: message.shared_span_context ?? true,
        splitsSpans: message.split_spans_for_request ?? false,
        usesW3c: message.trace_context_option === 'USE_B3_WITH_W3C_PROPAGATION',
      }
    );
  },
);

/** Undefined after a reported problem. */
function resolveCollector(message: ZipkinConfig, scope: Scope): CollectorService | undefined {
  const { collector_service: service } = message;
  if (service !== undefined) {
    const resolved = resolveHttpService(service, scope.at('collector_service'));
    checkTracerCluster(NAME, resolved.target.cluster, scope);
    return resolved;
  }
  const { collector_cluster: cluster = '', collector_endpoint: path = '' } = message;
  if (cluster === '' || path === '') {
    scope.error(
      'conflict',
      'collector_cluster and collector_endpoint must be specified when not using collector_service',
    );
    return undefined;
  }
  checkTracerCluster(NAME, cluster, scope.at('collector_cluster'));
  const { collector_hostname: host = '' } = message;
  const authority = toByteString(host === '' ? cluster : host);
  return {
    target: { cluster, scheme: 'http', authority, path: toByteString(path), timeoutMs: TIMEOUT_MS },
    headers: [],
  };
}
