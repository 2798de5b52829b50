/**
 * Resolves envoy.extensions.filters.http.tap.v3 and the tap that it, or a client of `/tap`, asks
 * for.
 */
import type {
  OutputConfig,
  OutputSink,
  TapConfig,
} from '../../../../../shared/api/generated/envoy/config/tap/v3/common.ts';
import type { CommonExtensionConfig } from '../../../../../shared/api/generated/envoy/extensions/common/tap/v3/common.ts';
import type { Tap } from '../../../../../shared/api/generated/envoy/extensions/filters/http/tap/v3/tap.ts';
import type { TapFilterSettings } from '../../../../../shared/resources/filters/http/tap.ts';
import type { TapFormat, TapSettings, TapSource } from '../../../../../shared/resources/tap.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveRuntimeFraction } from '../../../matchers/fraction.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { resolveTapMatch } from './tap-match.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<Tap>([
  'common_config',
  'record_headers_received_time',
  'record_downstream_connection',
  'record_upstream_connection',
]);
const TAP_FIELDS = knownFields<TapConfig>([
  'match',
  'match_config',
  'output_config',
  'tap_enabled',
]);
const OUTPUT_FIELDS = knownFields<OutputConfig>([
  'sinks',
  'max_buffered_rx_bytes',
  'max_buffered_tx_bytes',
  'streaming',
  'min_streamed_sent_bytes',
]);
const SINK_FIELDS = knownFields<OutputSink>([
  'format',
  'streaming_admin',
  'file_per_tap',
  'buffered_admin',
]);

const DEFAULT_BODY_BYTES = 1024;
const FORMATS: readonly TapFormat[] = [
  'JSON_BODY_AS_BYTES',
  'JSON_BODY_AS_STRING',
  'PROTO_BINARY',
  'PROTO_BINARY_LENGTH_DELIMITED',
  'PROTO_TEXT',
];

export const TAP_FILTER = httpFilter(
  'envoy.filters.http.tap',
  'envoy.extensions.filters.http.tap.v3.Tap',
  (message: Tap, scope, name): TapFilterSettings | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const source = resolveTapSource(message.common_config, scope.at('common_config'));
    if (source === undefined) return undefined;
    return {
      kind: 'tap',
      name,
      options: {
        source,
        recordsReceivedTime: message.record_headers_received_time ?? false,
        recordsDownstreamConnection: message.record_downstream_connection ?? false,
        recordsUpstreamConnection: message.record_upstream_connection ?? false,
      },
    };
  },
);

/** Undefined after a reported problem. */
export function resolveTapSource(
  { admin_config: admin, static_config: settings }: CommonExtensionConfig = {},
  scope: Scope,
): TapSource | undefined {
  if (settings !== undefined) return resolveStatic(settings, scope.at('static_config'));
  return { kind: 'admin', configId: admin?.config_id ?? '' };
}

function resolveStatic(
  message: TapConfig,
  scope: Scope,
): { readonly kind: 'static'; readonly settings: TapSettings } | undefined {
  const sink = message.output_config?.sinks?.[0];
  const place = scope.at('output_config', 'sinks', 0);
  if (sink?.streaming_admin !== undefined) {
    place.error('conflict', 'Error: Specifying admin streaming output without configuring admin.');
    return undefined;
  }
  if (sink?.buffered_admin !== undefined) {
    place.error(
      'conflict',
      'Output sink type BufferedAdmin requires that the admin output will be configured via admin',
    );
    return undefined;
  }
  const settings = resolveTapSettings(message, scope);
  return settings && { kind: 'static', settings };
}

/** Undefined after a reported problem. */
export function resolveTapSettings(message: TapConfig, scope: Scope): TapSettings | undefined {
  refuseOtherFields(message, TAP_FIELDS, scope);
  const output = message.output_config ?? {};
  refuseOtherFields(output, OUTPUT_FIELDS, scope.at('output_config'));
  const sinkMessage = output.sinks?.[0] ?? {};
  refuseOtherFields(sinkMessage, SINK_FIELDS, scope.at('output_config', 'sinks', 0));
  const match = message.match ?? message.match_config;
  if (match === undefined) {
    scope.error('conflict', 'Neither match nor match_config is set in TapConfig');
    return undefined;
  }
  const file = sinkMessage.file_per_tap;
  return {
    match: resolveTapMatch(match, scope.at(message.match === undefined ? 'match_config' : 'match')),
    ...optional(
      'enabled',
      message.tap_enabled === undefined ? undefined : resolveRuntimeFraction(message.tap_enabled),
    ),
    maxRequestBytes: output.max_buffered_rx_bytes ?? DEFAULT_BODY_BYTES,
    maxResponseBytes: output.max_buffered_tx_bytes ?? DEFAULT_BODY_BYTES,
    streaming: output.streaming ?? false,
    ...optional('minStreamedBytes', output.min_streamed_sent_bytes),
    format: FORMATS.find((name) => name === sinkMessage.format) ?? 'JSON_BODY_AS_BYTES',
    sink:
      file === undefined ? { kind: 'admin' } : { kind: 'file', pathPrefix: file.path_prefix ?? '' },
  };
}
