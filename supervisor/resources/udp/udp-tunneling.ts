/** Resolves how datagrams reach hosts that are proxies themselves: in streams of HTTP. */
import type {
  UdpProxyConfig_UdpTunnelingConfig as TunnelingMessage,
  UdpProxyConfig_UdpTunnelingConfig_BufferOptions as BufferMessage,
  UdpProxyConfig_UdpTunnelingConfig_RetryOptions as RetryMessage,
} from '../../../shared/api/generated/envoy/extensions/filters/udp/udp_proxy/v3/udp_proxy.ts';
import type { UdpTunneling } from '../../../shared/resources/udp-listener.ts';
import { checkFormat, resolveFormatters } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderValue } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';
import { resolveBackOff } from '../tcp/back-off.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<TunnelingMessage>([
  'proxy_host',
  'proxy_port',
  'target_host',
  'default_target_port',
  'use_post',
  'post_path',
  'retry_options',
  'headers_to_add',
  'buffer_options',
  'formatters',
]);
const RETRY_FIELDS = knownFields<RetryMessage>(['max_connect_attempts', 'backoff_options']);
const BUFFER_FIELDS = knownFields<BufferMessage>(['max_buffered_datagrams', 'max_buffered_bytes']);
/** What Envoy keeps where nothing is said. */
const BUFFERED_DATAGRAMS = 1024;
const BUFFERED_BYTES = 16_384;

export function resolveUdpTunneling(
  message: TunnelingMessage,
  logOnConnected: boolean,
  scope: Scope,
): UdpTunneling {
  refuseOtherFields(message, FIELDS, scope);
  const { use_post: usesPost = false, post_path: path = '', retry_options: retries = {} } = message;
  if (path !== '' && !usesPost) {
    scope.at('post_path').error('conflict', "Can't set a post path when POST method isn't used");
  }
  refuseOtherFields(retries, RETRY_FIELDS, scope.at('retry_options'));
  const extensions = resolveFormatters(message.formatters ?? [], scope.at('formatters'));
  const format = (name: 'proxy_host' | 'target_host'): string =>
    checkFormat(message[name] ?? '', scope.at(name), extensions);
  return {
    proxyHost: format('proxy_host'),
    ...optional('proxyPort', message.proxy_port),
    targetHost: format('target_host'),
    targetPort: message.default_target_port ?? 0,
    ...(usesPost ? { postPath: path === '' ? '/' : path } : {}),
    headersToAdd: (message.headers_to_add ?? []).map((header, index) =>
      resolveHeaderValue(header, scope.at('headers_to_add', index)),
    ),
    maxConnectAttempts: retries.max_connect_attempts ?? 1,
    ...optional('retryBackOff', resolveBackOff(retries.backoff_options, scope.at('retry_options'))),
    ...optional(
      'buffer',
      message.buffer_options && bufferOf(message.buffer_options, scope.at('buffer_options')),
    ),
    logOnConnected,
  };
}

function bufferOf(message: BufferMessage, scope: Scope): UdpTunneling['buffer'] {
  refuseOtherFields(message, BUFFER_FIELDS, scope);
  return {
    maxDatagrams: message.max_buffered_datagrams ?? BUFFERED_DATAGRAMS,
    maxBytes: Number(message.max_buffered_bytes ?? BUFFERED_BYTES),
  };
}
