/** Resolves the access log whose records go to a collector by the OpenTelemetry protocol. */
import type { CommonGrpcAccessLogConfig } from '../../../../shared/api/generated/envoy/extensions/access_loggers/grpc/v3/als.ts';
import type { OpenTelemetryAccessLogConfig } from '../../../../shared/api/generated/envoy/extensions/access_loggers/open_telemetry/v3/logs_service.ts';
import type {
  AnyValue,
  KeyValueList,
} from '../../../../shared/api/generated/opentelemetry/proto/common/v1/common.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  LogValue,
  LogValues,
  OpenTelemetryLogConfig,
} from '../../../../shared/resources/access-loggers/open-telemetry.ts';
import type {
  Exporter,
  ResourceAttributes,
} from '../../../../shared/resources/telemetry/collector.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { withStreamRetries } from '../../grpc-service.ts';
import { exporterUserAgent, resolveExporter } from '../../telemetry/exporter.ts';
import { resolveResource } from '../../telemetry/resource-detectors.ts';
import { resolveCustomTags } from '../../tracing/custom-tags.ts';
import { durationMsOr, optional } from '../../values.ts';
import { checkFormat, type FormatExtensions, resolveFormatters } from '../format.ts';

const FIELDS = knownFields<OpenTelemetryAccessLogConfig>(
  [
    'common_config',
    'disable_builtin_labels',
    'resource_attributes',
    'body',
    'attributes',
    'stat_prefix',
    'formatters',
    'http_service',
    'grpc_service',
    'resource_detectors',
    'log_name',
    'buffer_flush_interval',
    'buffer_size_bytes',
    'custom_tags',
  ],
  // Records carry what formats say.
  ['filter_state_objects_to_log'],
);
const COMMON_FIELDS = knownFields<CommonGrpcAccessLogConfig>(
  [
    'log_name',
    'grpc_service',
    'grpc_stream_retry_policy',
    'buffer_flush_interval',
    'buffer_size_bytes',
  ],
  ['transport_api_version', 'filter_state_objects_to_log'],
);
const FLUSH_INTERVAL_MS = 1000;
const BUFFER_BYTES = 16_384;
const WRONG_VALUE =
  'Only string values, nested structs, list values are supported in OpenTelemetry access log format.';

export const OPENTELEMETRY_LOGGER = extension(
  'envoy.access_loggers.open_telemetry',
  'envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig',
  resolveLogger,
);

/** Undefined after a reported problem. */
function resolveLogger(
  message: OpenTelemetryAccessLogConfig,
  scope: Scope,
): OpenTelemetryLogConfig | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { common_config: common = {} } = message;
  refuseOtherFields(common, COMMON_FIELDS, scope.at('common_config'));
  const extensions = resolveFormatters(message.formatters ?? [], scope.at('formatters'));
  const exporter =
    resolveExporter(message, scope) ?? resolveCommon(common, scope.at('common_config'));
  const body = message.body && resolveValue(message.body, scope.at('body'), extensions);
  const attributes = resolveValues(message.attributes, scope.at('attributes'), extensions);
  const customTags = resolveCustomTags(message.custom_tags, scope.at('custom_tags'));
  const resource = resolveLabels(message, scope);
  if (exporter === undefined) {
    scope.error('conflict', 'an OpenTelemetry access log needs a grpc_service or an http_service');
    return undefined;
  }
  const prefix = message.stat_prefix ?? '';
  return {
    kind: 'open_telemetry',
    exporter,
    userAgent: exporterUserAgent(),
    hasBuiltInLabels: !(message.disable_builtin_labels ?? false),
    logName: toByteString(message.log_name || common.log_name || ''),
    resource,
    ...optional('body', body),
    attributes,
    customTags,
    statPrefix: prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`,
    ...resolveBuffer(message, common),
  };
}

function resolveCommon(common: CommonGrpcAccessLogConfig, scope: Scope): Exporter | undefined {
  const exporter = resolveExporter(common, scope);
  if (exporter?.kind !== 'grpc') return exporter;
  const { grpc_stream_retry_policy: retry } = common;
  return { ...exporter, target: withStreamRetries(exporter.target, retry, scope) };
}

function resolveBuffer(
  message: OpenTelemetryAccessLogConfig,
  common: CommonGrpcAccessLogConfig,
): Pick<OpenTelemetryLogConfig, 'flushIntervalMs' | 'bufferBytes'> {
  const interval = message.buffer_flush_interval ?? common.buffer_flush_interval;
  return {
    flushIntervalMs: durationMsOr(interval, FLUSH_INTERVAL_MS),
    bufferBytes: message.buffer_size_bytes ?? common.buffer_size_bytes ?? BUFFER_BYTES,
  };
}

/** These texts are no formats. */
function resolveLabels(message: OpenTelemetryAccessLogConfig, scope: Scope): ResourceAttributes {
  const place = scope.at('resource_attributes', 'values');
  const given = (message.resource_attributes?.values ?? []).flatMap(
    ({ key = '', value = {} }, index): ResourceAttributes => {
      if (value.string_value === undefined) {
        place.at(index).unsupported('a resource attribute that is no string is');
      }
      return [[toByteString(key), toByteString(value.string_value ?? '')]];
    },
  );
  const { resource_detectors: detectors } = message;
  const origin = { detectors, serviceName: undefined, namesSdk: false };
  return [...given, ...resolveResource(origin, scope.at('resource_detectors'))];
}

function resolveValues(
  message: KeyValueList | undefined,
  scope: Scope,
  extensions: FormatExtensions,
): LogValues {
  return (message?.values ?? []).flatMap(({ key = '', value = {} }, index): LogValues => {
    const resolved = resolveValue(value, scope.at('values', index, 'value'), extensions);
    return resolved === undefined ? [] : [[toByteString(key), resolved]];
  });
}

function resolveValue(
  message: AnyValue,
  scope: Scope,
  extensions: FormatExtensions,
): LogValue | undefined {
  const { string_value: text, array_value: list, kvlist_value: map } = message;
  if (text !== undefined) return { kind: 'text', format: checkFormat(text, scope, extensions) };
  if (map !== undefined) {
    return { kind: 'map', entries: resolveValues(map, scope.at('kvlist_value'), extensions) };
  }
  if (list !== undefined) {
    const items = (list.values ?? []).map((item, index) =>
      resolveValue(item, scope.at('array_value', 'values', index), extensions),
    );
    return { kind: 'list', items: items.filter((item) => item !== undefined) };
  }
  scope.error('conflict', WRONG_VALUE);
  return undefined;
}
