/** Transport sockets of listeners and clusters: plain bytes so far, anything else is refused. */
import type { TransportSocket } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import { extension, ExtensionRegistry } from './extensions.ts';
import type { Scope } from './scope.ts';

export const SOCKETS = new ExtensionRegistry<'raw_buffer'>('transport socket', [
  extension(
    'envoy.transport_sockets.raw_buffer',
    'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
    () => 'raw_buffer',
  ),
]);

export function checkTransportSocket(message: TransportSocket | undefined, scope: Scope): void {
  if (message !== undefined) SOCKETS.resolve(message, scope);
}
