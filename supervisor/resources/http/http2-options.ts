/** Resolves envoy.config.core.v3.Http2ProtocolOptions, of listeners and of clusters, with Envoy's defaults. */
import type {
  Http2ProtocolOptions,
  KeepaliveSettings,
} from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import {
  DEFAULT_HTTP2_OPTIONS,
  type Http2Options,
  type Http2PingOptions,
} from '../../../shared/resources/http2-options.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float } from '../values.ts';
import { checkCustomSettings } from './custom-settings.ts';

const FIELDS = knownFields<Http2ProtocolOptions>(
  [
    'hpack_table_size',
    'max_concurrent_streams',
    'initial_stream_window_size',
    'initial_connection_window_size',
    'allow_connect',
    'allow_metadata',
    'max_metadata_size',
    'max_outbound_frames',
    'max_outbound_control_frames',
    'max_consecutive_inbound_frames_with_empty_payload',
    'max_inbound_priority_frames_per_stream',
    'max_inbound_window_update_frames_per_data_frame_sent',
    'stream_error_on_invalid_http_messaging',
    'override_stream_error_on_invalid_http_message',
    'custom_settings_parameters',
    'connection_keepalive',
    'enable_huffman_encoding',
    'max_header_field_size_kb',
    'stream_reset_burst',
    'stream_reset_rate',
  ],
  // Which of Envoy's two codec libraries is used, and what only the one that is not says.
  ['use_oghttp2_codec', 'disallow_obs_text'],
);

const JITTER_PERCENT = 15;
const DEFAULT_METADATA_BYTES = 1024 * 1024;

/** `isStreamErrorByDefault`: the manager's own `stream_error_on_invalid_http_message`. */
export function resolveHttp2Options(
  message: Http2ProtocolOptions,
  scope: Scope,
  isStreamErrorByDefault = false,
): Http2Options {
  refuseOtherFields(message, FIELDS, scope);
  checkCustomSettings(message, scope);
  const keepAlive = resolveKeepAlive(message.connection_keepalive);
  return {
    ...frameLimits(message),
    headerTableSize: message.hpack_table_size ?? DEFAULT_HTTP2_OPTIONS.headerTableSize,
    maxConcurrentStreams:
      message.max_concurrent_streams ?? DEFAULT_HTTP2_OPTIONS.maxConcurrentStreams,
    streamWindowBytes:
      message.initial_stream_window_size ?? DEFAULT_HTTP2_OPTIONS.streamWindowBytes,
    connectionWindowBytes:
      message.initial_connection_window_size ?? DEFAULT_HTTP2_OPTIONS.connectionWindowBytes,
    maxMetadataBytes:
      message.allow_metadata === true
        ? Number(message.max_metadata_size ?? DEFAULT_METADATA_BYTES)
        : 0,
    allowConnect: message.allow_connect ?? DEFAULT_HTTP2_OPTIONS.allowConnect,
    endsStreamOnInvalidMessage:
      message.override_stream_error_on_invalid_http_message ??
      message.stream_error_on_invalid_http_messaging ??
      isStreamErrorByDefault,
    usesHuffman: message.enable_huffman_encoding ?? DEFAULT_HTTP2_OPTIONS.usesHuffman,
    customSettings: (message.custom_settings_parameters ?? []).map(
      ({ identifier = 0, value = 0 }) => [identifier, value] as const,
    ),
    ...(keepAlive === undefined ? {} : { keepAlive }),
  };
}

type FrameLimits = Pick<
  Http2Options,
  | 'maxOutboundFrames'
  | 'maxOutboundControlFrames'
  | 'maxConsecutiveEmptyFrames'
  | 'maxPriorityFramesPerStream'
  | 'maxWindowUpdatesPerDataFrame'
  | 'resetBurst'
  | 'resetRate'
  | 'maxHeaderTextBytes'
>;

function frameLimits(message: Http2ProtocolOptions): FrameLimits {
  return {
    maxOutboundFrames: message.max_outbound_frames ?? DEFAULT_HTTP2_OPTIONS.maxOutboundFrames,
    maxOutboundControlFrames:
      message.max_outbound_control_frames ?? DEFAULT_HTTP2_OPTIONS.maxOutboundControlFrames,
    maxConsecutiveEmptyFrames:
      message.max_consecutive_inbound_frames_with_empty_payload ??
      DEFAULT_HTTP2_OPTIONS.maxConsecutiveEmptyFrames,
    maxPriorityFramesPerStream:
      message.max_inbound_priority_frames_per_stream ??
      DEFAULT_HTTP2_OPTIONS.maxPriorityFramesPerStream,
    maxWindowUpdatesPerDataFrame:
      message.max_inbound_window_update_frames_per_data_frame_sent ??
      DEFAULT_HTTP2_OPTIONS.maxWindowUpdatesPerDataFrame,
    resetBurst: Number(message.stream_reset_burst ?? DEFAULT_HTTP2_OPTIONS.resetBurst),
    resetRate: Number(message.stream_reset_rate ?? DEFAULT_HTTP2_OPTIONS.resetRate),
    maxHeaderTextBytes:
      message.max_header_field_size_kb === undefined
        ? DEFAULT_HTTP2_OPTIONS.maxHeaderTextBytes
        : message.max_header_field_size_kb * 1024,
  };
}

function resolveKeepAlive(message: KeepaliveSettings | undefined): Http2PingOptions | undefined {
  if (message === undefined) return undefined;
  const { interval, timeout, interval_jitter: jitter, connection_idle_interval: idle } = message;
  return {
    intervalMs: durationMsOr(interval, 0),
    timeoutMs: durationMsOr(timeout, 0),
    jitterPercent: jitter === undefined ? JITTER_PERCENT : float(jitter.value ?? 0),
    idleIntervalMs: durationMsOr(idle, 0),
  };
}
