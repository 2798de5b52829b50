/** Resolves envoy.extensions.transport_sockets.tap.v3.Tap: a tap around another socket. */
import type {
  SocketTapConfig,
  Tap,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tap/v3/tap.ts';
import type { SocketTap } from '../../../shared/resources/tap.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveTapSource } from '../filters/http/tap/tap.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<Tap>(['common_config', 'transport_socket', 'socket_tap_config']);
const SOCKET_FIELDS = knownFields<SocketTapConfig>(['set_connection_per_event', 'stats_prefix']);

/** The socket inside alone after a reported problem. */
export function withTap<Socket extends { readonly taps?: readonly SocketTap[] }>(
  inner: Socket,
  message: Tap,
  scope: Scope,
): Socket {
  const tap = resolveSocketTap(message, scope);
  return tap === undefined ? inner : { ...inner, taps: [tap, ...(inner.taps ?? [])] };
}

function resolveSocketTap(message: Tap, scope: Scope): SocketTap | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { socket_tap_config: own = {} } = message;
  refuseOtherFields(own, SOCKET_FIELDS, scope.at('socket_tap_config'));
  const source = resolveTapSource(message.common_config, scope.at('common_config'));
  const { stats_prefix: prefix = '', set_connection_per_event: perEvent = false } = own;
  return (
    source && {
      source,
      connectionPerEvent: perEvent,
      statPrefix: prefix === '' ? '' : `${prefix}.`,
    }
  );
}
