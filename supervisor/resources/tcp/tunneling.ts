/** Resolves how a TCP proxy reaches hosts that are proxies themselves: by a request of HTTP. */
import type { TcpProxy_TunnelingConfig as TunnelingMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.ts';
import type { TcpTunneling } from '../../../shared/resources/filters/network/tcp-proxy.ts';
import { checkFormat, resolveFormatters } from '../access-logs/format.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderValue } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<TunnelingMessage>([
  'hostname',
  'use_post',
  'headers_to_add',
  'post_path',
  'formatters',
]);

export function resolveTunneling(message: TunnelingMessage, scope: Scope): TcpTunneling {
  refuseOtherFields(message, FIELDS, scope);
  const { hostname = '', use_post: usesPost = false, post_path: path = '' } = message;
  if (path !== '' && !usesPost) {
    scope.at('post_path').error('conflict', "Can't set a post path when POST method isn't used");
  }
  const extensions = resolveFormatters(message.formatters ?? [], scope.at('formatters'));
  return {
    hostname: checkFormat(hostname, scope.at('hostname'), extensions),
    method: usesPost ? 'POST' : 'CONNECT',
    path: path === '' ? '/' : path,
    headersToAdd: (message.headers_to_add ?? []).map((header, index) =>
      resolveHeaderValue(header, scope.at('headers_to_add', index)),
    ),
  };
}
