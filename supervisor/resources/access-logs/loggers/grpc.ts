/** Resolves the access logs whose entries go to a service over gRPC. */
import type {
  CommonGrpcAccessLogConfig,
  HttpGrpcAccessLogConfig,
  TcpGrpcAccessLogConfig,
} from '../../../../shared/api/generated/envoy/extensions/access_loggers/grpc/v3/als.ts';
import type { LogServiceConfig } from '../../../../shared/resources/access-loggers/grpc.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveGrpcService, withStreamRetries } from '../../grpc-service.ts';
import type { Scope } from '../../scope.ts';
import { resolveCustomTags } from '../../tracing/custom-tags.ts';
import { durationMsOr } from '../../values.ts';

const HTTP_FIELDS = knownFields<HttpGrpcAccessLogConfig>([
  'common_config',
  'additional_request_headers_to_log',
  'additional_response_headers_to_log',
  'additional_response_trailers_to_log',
]);
const TCP_FIELDS = knownFields<TcpGrpcAccessLogConfig>(['common_config']);
const COMMON_FIELDS = knownFields<CommonGrpcAccessLogConfig>([
  'log_name',
  'grpc_service',
  'transport_api_version',
  'buffer_flush_interval',
  'buffer_size_bytes',
  'filter_state_objects_to_log',
  'grpc_stream_retry_policy',
  'custom_tags',
]);

const FLUSH_INTERVAL_MS = 1000;
const BUFFER_BYTES = 16_384;

export const HTTP_GRPC_LOGGER = extension(
  'envoy.access_loggers.http_grpc',
  'envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig',
  resolveHttpLogService,
);

export const TCP_GRPC_LOGGER = extension(
  'envoy.access_loggers.tcp_grpc',
  'envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig',
  resolveTcpLogService,
);

/** Undefined after a reported problem. */
function resolveHttpLogService(
  message: HttpGrpcAccessLogConfig,
  scope: Scope,
): LogServiceConfig | undefined {
  refuseOtherFields(message, HTTP_FIELDS, scope);
  const common = resolveCommon('http', message.common_config, scope.at('common_config'));
  if (common === undefined) return undefined;
  return {
    ...common,
    requestHeaders: lowerCase(message.additional_request_headers_to_log),
    responseHeaders: lowerCase(message.additional_response_headers_to_log),
    responseTrailers: lowerCase(message.additional_response_trailers_to_log),
  };
}

/** Undefined after a reported problem. */
function resolveTcpLogService(
  message: TcpGrpcAccessLogConfig,
  scope: Scope,
): LogServiceConfig | undefined {
  refuseOtherFields(message, TCP_FIELDS, scope);
  return resolveCommon('tcp', message.common_config, scope.at('common_config'));
}

function resolveCommon(
  entries: 'http' | 'tcp',
  message: CommonGrpcAccessLogConfig | undefined,
  scope: Scope,
): LogServiceConfig | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, COMMON_FIELDS, scope);
  const { grpc_service: service } = message;
  const target = service && resolveGrpcService(service, scope.at('grpc_service'));
  if (target === undefined) return undefined;
  return {
    kind: 'grpc',
    stream: {
      entries,
      logName: message.log_name ?? '',
      target: withStreamRetries(target, message.grpc_stream_retry_policy, scope),
    },
    flushIntervalMs: durationMsOr(message.buffer_flush_interval, FLUSH_INTERVAL_MS),
    bufferBytes: message.buffer_size_bytes ?? BUFFER_BYTES,
    requestHeaders: [],
    responseHeaders: [],
    responseTrailers: [],
    filterState: message.filter_state_objects_to_log ?? [],
    customTags: resolveCustomTags(message.custom_tags, scope.at('custom_tags')),
  };
}

function lowerCase(names: readonly string[] | undefined): readonly string[] {
  return (names ?? []).map((name) => name.toLowerCase());
}
