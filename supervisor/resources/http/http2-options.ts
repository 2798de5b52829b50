/** Resolves envoy.config.core.v3.Http2ProtocolOptions, of listeners and of clusters, with Envoy's defaults. */
import type {
  Http2ProtocolOptions,
  KeepaliveSettings,
} from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import type { Http2Options, Http2PingOptions } from '../../../shared/resources/http2-options.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float } from '../values.ts';

const FIELDS = knownFields<Http2ProtocolOptions>(
  [
    'hpack_table_size',
    'max_concurrent_streams',
    'initial_stream_window_size',
    'initial_connection_window_size',
    'allow_connect',
    'max_outbound_frames',
    'max_outbound_control_frames',
    'max_consecutive_inbound_frames_with_empty_payload',
    'max_inbound_priority_frames_per_stream',
    'max_inbound_window_update_frames_per_data_frame_sent',
    'stream_error_on_invalid_http_messaging',
    'override_stream_error_on_invalid_http_message',
    'custom_settings_parameters',
    'connection_keepalive',
  ],
  // Which of Envoy's two codec libraries is used.
  ['use_oghttp2_codec'],
);

/** Envoy 1.40's defaults; older documents say 2^31-1 streams and windows of 256 MiB. */
const MAX_CONCURRENT_STREAMS = 1024;
const STREAM_WINDOW_BYTES = 16 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 24 * 1024 * 1024;
const HEADER_TABLE_BYTES = 4096;
const MAX_OUTBOUND_FRAMES = 10_000;
const MAX_OUTBOUND_CONTROL_FRAMES = 1_000;
const MAX_CONSECUTIVE_EMPTY_FRAMES = 1;
const MAX_PRIORITY_FRAMES_PER_STREAM = 100;
const MAX_WINDOW_UPDATES_PER_DATA_FRAME = 10;
const JITTER_PERCENT = 15;

type FloodLimits = Pick<
  Http2Options,
  | 'maxOutboundFrames'
  | 'maxOutboundControlFrames'
  | 'maxConsecutiveEmptyFrames'
  | 'maxPriorityFramesPerStream'
  | 'maxWindowUpdatesPerDataFrame'
>;

/** `isStreamErrorByDefault`: the manager's own `stream_error_on_invalid_http_message`. */
export function resolveHttp2Options(
  message: Http2ProtocolOptions,
  scope: Scope,
  isStreamErrorByDefault = false,
): Http2Options {
  refuseOtherFields(message, FIELDS, scope);
  const keepAlive = resolveKeepAlive(message.connection_keepalive);
  return {
    headerTableSize: message.hpack_table_size ?? HEADER_TABLE_BYTES,
    maxConcurrentStreams: message.max_concurrent_streams ?? MAX_CONCURRENT_STREAMS,
    streamWindowBytes: message.initial_stream_window_size ?? STREAM_WINDOW_BYTES,
    connectionWindowBytes: message.initial_connection_window_size ?? CONNECTION_WINDOW_BYTES,
    allowConnect: message.allow_connect ?? false,
    ...resolveFloodLimits(message),
    endsStreamOnInvalidMessage:
      message.override_stream_error_on_invalid_http_message ??
      message.stream_error_on_invalid_http_messaging ??
      isStreamErrorByDefault,
    customSettings: (message.custom_settings_parameters ?? []).map(
      ({ identifier = 0, value = 0 }) => [identifier, value] as const,
    ),
    ...(keepAlive === undefined ? {} : { keepAlive }),
  };
}

function resolveFloodLimits(message: Http2ProtocolOptions): FloodLimits {
  return {
    maxOutboundFrames: message.max_outbound_frames ?? MAX_OUTBOUND_FRAMES,
    maxOutboundControlFrames: message.max_outbound_control_frames ?? MAX_OUTBOUND_CONTROL_FRAMES,
    maxConsecutiveEmptyFrames:
      message.max_consecutive_inbound_frames_with_empty_payload ?? MAX_CONSECUTIVE_EMPTY_FRAMES,
    maxPriorityFramesPerStream:
      message.max_inbound_priority_frames_per_stream ?? MAX_PRIORITY_FRAMES_PER_STREAM,
    maxWindowUpdatesPerDataFrame:
      message.max_inbound_window_update_frames_per_data_frame_sent ??
      MAX_WINDOW_UPDATES_PER_DATA_FRAME,
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
