/**
 * The transport sockets that there are: one row each for listeners and for clusters. Any other is
 * refused by name.
 */
import type { TransportSocket } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  StartTlsConfig,
  UpstreamStartTlsConfig,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/starttls/v3/starttls.ts';
import type {
  DownstreamSocketOptions,
  UpstreamSocketOptions,
} from '../../../shared/resources/transport-sockets.ts';
import { extension, type ExtensionFactory, ExtensionRegistry } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { resolveDownstreamTls, resolveUpstreamTls } from '../tls/tls-context.ts';
import { optional } from '../values.ts';
import { withMetadata } from './internal-upstream.ts';
import { behindProxyProtocol } from './proxy-protocol.ts';
import { resolveQuic } from './quic.ts';
import { withTap } from './tap.ts';

/** A socket's message that holds another's. */
interface AroundSocket {
  readonly transport_socket?: TransportSocket;
}

const SOCKETS = 'envoy.extensions.transport_sockets';
const TLS_NAME = 'envoy.transport_sockets.tls';
const TAP_NAME = 'envoy.transport_sockets.tap';
const STARTTLS_NAME = 'envoy.transport_sockets.starttls';
const TLS_PART = 'tls_socket_config';
const TAP_TYPE = `${SOCKETS}.tap.v3.Tap`;

/**
 * Connections stay in the clear until a network filter asks for TLS, which only filters of Envoy's
 * contributors do (those of PostgreSQL and SMTP): the settings of TLS are only checked.
 */
const STARTTLS = {};

const rawBuffer = extension(
  'envoy.transport_sockets.raw_buffer',
  `${SOCKETS}.raw_buffer.v3.RawBuffer`,
  () => ({}),
);

export const DOWNSTREAM_SOCKETS = new ExtensionRegistry<DownstreamSocketOptions>(
  'envoy.transport_sockets.downstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${SOCKETS}.tls.v3.DownstreamTlsContext`, (message: object, scope) =>
      optional('tls', resolveDownstreamTls(message, scope)),
    ),
    around(resolveDownstreamSocket, TAP_NAME, TAP_TYPE, withTap),
    extension(
      STARTTLS_NAME,
      `${SOCKETS}.starttls.v3.StartTlsConfig`,
      (message: StartTlsConfig, scope) => {
        resolveDownstreamTls(message.tls_socket_config ?? {}, scope.at(TLS_PART));
        return STARTTLS;
      },
    ),
  ],
);

export const UPSTREAM_SOCKETS = new ExtensionRegistry<UpstreamSocketOptions>(
  'envoy.transport_sockets.upstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${SOCKETS}.tls.v3.UpstreamTlsContext`, (message: object, scope) =>
      optional('tls', resolveUpstreamTls(message, scope)),
    ),
    around(resolveUpstreamSocket, TAP_NAME, TAP_TYPE, withTap),
    extension(
      STARTTLS_NAME,
      `${SOCKETS}.starttls.v3.UpstreamStartTlsConfig`,
      (message: UpstreamStartTlsConfig, scope) => {
        resolveUpstreamTls(message.tls_socket_config ?? {}, scope.at(TLS_PART));
        return STARTTLS;
      },
    ),
    around(
      resolveUpstreamSocket,
      'envoy.transport_sockets.upstream_proxy_protocol',
      `${SOCKETS}.proxy_protocol.v3.ProxyProtocolUpstreamTransport`,
      behindProxyProtocol,
    ),
    extension(
      'envoy.transport_sockets.quic',
      `${SOCKETS}.quic.v3.QuicUpstreamTransport`,
      resolveQuic,
    ),
    around(
      resolveUpstreamSocket,
      'envoy.transport_sockets.internal_upstream',
      `${SOCKETS}.internal_upstream.v3.InternalUpstreamTransport`,
      withMetadata,
    ),
  ],
);

/** Plain bytes after a reported problem, too. */
export function resolveDownstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): DownstreamSocketOptions {
  return message === undefined ? {} : (DOWNSTREAM_SOCKETS.resolve(message, scope) ?? {});
}

/** Plain bytes after a reported problem, too. */
export function resolveUpstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): UpstreamSocketOptions {
  return message === undefined ? {} : (UPSTREAM_SOCKETS.resolve(message, scope) ?? {});
}

/** The row of a socket that adds its layer to the one inside it. */
function around<Message extends AroundSocket, Socket extends object>(
  resolveInner: (message: TransportSocket | undefined, scope: Scope) => Socket,
  name: string,
  type: string,
  add: (inner: Socket, message: Message, scope: Scope) => Socket,
): ExtensionFactory<Socket> {
  return extension(name, type, (message: Message, scope) =>
    add(resolveInner(message.transport_socket, scope.at('transport_socket')), message, scope),
  );
}
