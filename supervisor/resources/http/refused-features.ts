/** What a connection manager can be configured for and cannot do yet: other protocols. */
import type { HttpConnectionManager as ManagerMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { Scope } from '../scope.ts';

export function checkProtocols(message: ManagerMessage, scope: Scope): void {
  const { codec_type: codec } = message;
  const place = scope.at('codec_type');
  if (codec === 'HTTP3') {
    place.error('conflict', 'HTTP/3 codec configured on non-QUIC listener.');
  }
  const name = 'http3_protocol_options';
  if (message[name] === undefined || codec === 'HTTP3') return;
  scope.at(name).warning('no_effect', `${name} has no effect: HTTP/3 is not supported yet`);
}
