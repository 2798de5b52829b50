/** Timeouts and limits of an HTTP connection manager with the API's defaults. */
import type { HttpProtocolOptions } from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import type { HttpConnectionManager as ManagerMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { HttpConnectionManager } from '../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, shareOf } from '../values.ts';

const FIELDS = knownFields<HttpProtocolOptions>([
  'idle_timeout',
  'max_connection_duration',
  'max_connection_duration_jitter',
  'max_headers_count',
  'max_stream_duration',
  'headers_with_underscores_action',
  'max_requests_per_connection',
  'max_response_headers_kb',
]);

const IDLE_TIMEOUT_MS = 3_600_000;
const STREAM_IDLE_TIMEOUT_MS = 300_000;
const DRAIN_TIMEOUT_MS = 5_000;
const DELAYED_CLOSE_TIMEOUT_MS = 1_000;
const MAX_REQUEST_HEADERS_KB = 60;
const MAX_REQUEST_HEADERS_COUNT = 100;

type Limits = Pick<
  HttpConnectionManager,
  | 'streamIdleTimeoutMs'
  | 'streamFlushTimeoutMs'
  | 'requestTimeoutMs'
  | 'requestHeadersTimeoutMs'
  | 'idleTimeoutMs'
  | 'maxConnectionDurationMs'
  | 'maxConnectionDurationJitter'
  | 'maxStreamDurationMs'
  | 'maxRequestsPerConnection'
  | 'delayedCloseTimeoutMs'
  | 'drainTimeoutMs'
  | 'drainTimeoutJitter'
  | 'maxRequestHeadersKb'
  | 'maxRequestHeadersCount'
  | 'underscoresInHeaders'
>;

export function resolveLimits(message: ManagerMessage, scope: Scope): Limits {
  const common = message.common_http_protocol_options ?? {};
  refuseOtherFields(common, FIELDS, scope.at('common_http_protocol_options'));
  if (common.max_response_headers_kb !== undefined) {
    scope.error(
      'conflict',
      'Error: max_response_headers_kb cannot be set on http_connection_manager.',
    );
  }
  const maxRequestHeadersKb = message.max_request_headers_kb ?? MAX_REQUEST_HEADERS_KB;
  if ((message.http2_protocol_options?.max_header_field_size_kb ?? 0) > maxRequestHeadersKb) {
    scope.error('conflict', 'max_header_field_size_kb must not exceed max_request_headers_kb');
  }
  const underscores = common.headers_with_underscores_action;
  const streamIdleTimeoutMs = durationMsOr(message.stream_idle_timeout, STREAM_IDLE_TIMEOUT_MS);
  return {
    streamIdleTimeoutMs,
    streamFlushTimeoutMs: durationMsOr(message.stream_flush_timeout, streamIdleTimeoutMs),
    requestTimeoutMs: durationMsOr(message.request_timeout, 0),
    requestHeadersTimeoutMs: durationMsOr(message.request_headers_timeout, 0),
    idleTimeoutMs: durationMsOr(common.idle_timeout, IDLE_TIMEOUT_MS),
    maxConnectionDurationMs: durationMsOr(common.max_connection_duration, 0),
    maxConnectionDurationJitter: shareOf(common.max_connection_duration_jitter),
    maxStreamDurationMs: durationMsOr(common.max_stream_duration, 0),
    maxRequestsPerConnection: common.max_requests_per_connection ?? 0,
    delayedCloseTimeoutMs: durationMsOr(message.delayed_close_timeout, DELAYED_CLOSE_TIMEOUT_MS),
    drainTimeoutMs: durationMsOr(message.drain_timeout, DRAIN_TIMEOUT_MS),
    drainTimeoutJitter: shareOf(message.drain_timeout_jitter),
    maxRequestHeadersKb,
    maxRequestHeadersCount: common.max_headers_count ?? MAX_REQUEST_HEADERS_COUNT,
    underscoresInHeaders: typeof underscores === 'string' ? underscores : 'ALLOW',
  };
}
