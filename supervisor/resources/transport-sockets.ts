/**
 * Transport sockets of listeners and clusters: plain bytes and TLS, either of them tapped, and of
 * clusters behind the PROXY protocol. Anything else is refused.
 */
import type { QuicUpstreamTransport } from '../../shared/api/generated/envoy/extensions/transport_sockets/quic/v3/quic_transport.ts';
import type { TransportSocket } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { Tap } from '../../shared/api/generated/envoy/extensions/transport_sockets/tap/v3/tap.ts';
import type { SocketTap } from '../../shared/resources/tap.ts';
import type { DownstreamTls, UpstreamTls } from '../../shared/resources/tls.ts';
import type {
  ProxyProtocolConfig,
  TlvEntry,
} from '../../shared/api/generated/envoy/config/core/v3/proxy_protocol.ts';
import type { ProxyProtocolUpstreamTransport } from '../../shared/api/generated/envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol.ts';
import type { ProxyProtocolSender } from '../../shared/resources/clusters/proxy-protocol.ts';
import type { InternalUpstreamTransport } from '../../shared/api/generated/envoy/extensions/transport_sockets/internal_upstream/v3/internal_upstream.ts';
import type { UpstreamSocketOptions } from '../../shared/resources/clusters/cluster.ts';
import { knownFields, refuseOtherFields } from './fields.ts';
import { extension, ExtensionRegistry } from './extensions.ts';
import { resolveSocketTap, withTap } from './socket-tap.ts';
import { resolvePassedOn } from './proxy-tlvs.ts';
import { optional } from './values.ts';
import type { Scope } from './scope.ts';
import { resolveDownstreamTls, resolveUpstreamTls } from './tls/tls-context.ts';

export interface DownstreamSocket {
  readonly tls?: DownstreamTls;
  readonly taps?: readonly SocketTap[];
}

const rawBuffer = extension(
  'envoy.transport_sockets.raw_buffer',
  'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
  () => ({}),
);
const TLS_NAME = 'envoy.transport_sockets.tls';
const TLS_TYPE = 'envoy.extensions.transport_sockets.tls.v3';
const TAP_NAME = 'envoy.transport_sockets.tap';
const TAP_TYPE = 'envoy.extensions.transport_sockets.tap.v3.Tap';

export const DOWNSTREAM_SOCKETS = new ExtensionRegistry<DownstreamSocket>(
  'envoy.transport_sockets.downstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${TLS_TYPE}.DownstreamTlsContext`, (message: object, scope) =>
      optional('tls', resolveDownstreamTls(message, scope)),
    ),
    extension(TAP_NAME, TAP_TYPE, (message: Tap, scope): DownstreamSocket => {
      const inner = resolveDownstreamSocket(message.transport_socket, scope.at('transport_socket'));
      return withTap(inner, resolveSocketTap(message, scope));
    }),
  ],
);

const INTERNAL_FIELDS = knownFields<InternalUpstreamTransport>([
  'passthrough_metadata',
  'transport_socket',
]);
const PROXY_FIELDS = knownFields<ProxyProtocolUpstreamTransport>(['config', 'transport_socket']);
const CONFIG_FIELDS = knownFields<ProxyProtocolConfig>([
  'version',
  'added_tlvs',
  'pass_through_tlvs',
]);
const QUIC_FIELDS = knownFields<QuicUpstreamTransport>(['upstream_tls_context']);
const TLV_FIELDS = knownFields<TlvEntry>(['type', 'value']);

export interface UpstreamSocket {
  readonly tls?: UpstreamTls;
  readonly proxyProtocol?: ProxyProtocolSender;
  readonly handedOn?: UpstreamSocketOptions['handedOn'];
  readonly taps?: readonly SocketTap[];
}

export const UPSTREAM_SOCKETS = new ExtensionRegistry<UpstreamSocket>(
  'envoy.transport_sockets.upstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${TLS_TYPE}.UpstreamTlsContext`, (message: object, scope) =>
      optional('tls', resolveUpstreamTls(message, scope)),
    ),
    extension(TAP_NAME, TAP_TYPE, (message: Tap, scope): UpstreamSocket => {
      const inner = resolveUpstreamSocket(message.transport_socket, scope.at('transport_socket'));
      return withTap(inner, resolveSocketTap(message, scope));
    }),
    extension(
      'envoy.transport_sockets.upstream_proxy_protocol',
      'envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
      resolveProxyProtocol,
    ),
    extension(
      'envoy.transport_sockets.quic',
      'envoy.extensions.transport_sockets.quic.v3.QuicUpstreamTransport',
      resolveQuic,
    ),
    extension(
      'envoy.transport_sockets.internal_upstream',
      'envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport',
      resolveInternalUpstream,
    ),
  ],
);

/** Plain bytes after a reported problem, too. */
export function resolveDownstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): DownstreamSocket {
  return message === undefined ? {} : (DOWNSTREAM_SOCKETS.resolve(message, scope) ?? {});
}

/** Plain bytes after a reported problem, too. */
export function resolveUpstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): UpstreamSocket {
  return message === undefined ? {} : (UPSTREAM_SOCKETS.resolve(message, scope) ?? {});
}

function resolveProxyProtocol(
  message: ProxyProtocolUpstreamTransport,
  scope: Scope,
): UpstreamSocket {
  refuseOtherFields(message, PROXY_FIELDS, scope);
  const { config = {} } = message;
  const inner = resolveUpstreamSocket(message.transport_socket, scope.at('transport_socket'));
  return { ...inner, proxyProtocol: resolveProxySender(config, scope.at('config')) };
}

/** Clusters that offer other versions of HTTP beside HTTP/3 go by these, in Envoy over the same TLS. */
function resolveQuic(message: QuicUpstreamTransport, scope: Scope): UpstreamSocket {
  refuseOtherFields(message, QUIC_FIELDS, scope);
  scope.warning(
    'no_effect',
    'Node.js has no QUIC: connections are made over TCP with the same TLS',
  );
  const { upstream_tls_context: tls = {} } = message;
  return optional('tls', resolveUpstreamTls(tls, scope.at('upstream_tls_context')));
}

/** The header that connections begin with. */
export function resolveProxySender(
  message: ProxyProtocolConfig,
  scope: Scope,
): ProxyProtocolSender {
  refuseOtherFields(message, CONFIG_FIELDS, scope);
  const tlvs = (message.added_tlvs ?? []).map((tlv, index) => {
    refuseOtherFields(tlv, TLV_FIELDS, scope.at('added_tlvs', index));
    return { type: tlv.type ?? 0, value: tlv.value ?? '' };
  });
  const { pass_through_tlvs: passed } = message;
  return {
    version: message.version === 'V2' ? 'V2' : 'V1',
    tlvs,
    ...optional('passedOn', resolvePassedOn(passed, scope.at('pass_through_tlvs'))),
  };
}

/** Requests and routes have no metadata of their own where connections are opened. */
function resolveInternalUpstream(message: InternalUpstreamTransport, scope: Scope): UpstreamSocket {
  refuseOtherFields(message, INTERNAL_FIELDS, scope);
  const handedOn: { of: 'host' | 'cluster'; name: string }[] = [];
  for (const [index, { kind, name = '' }] of (message.passthrough_metadata ?? []).entries()) {
    if (kind?.host !== undefined) handedOn.push({ of: 'host', name });
    else if (kind?.cluster !== undefined) handedOn.push({ of: 'cluster', name });
    else {
      const place = scope.at('passthrough_metadata', index, 'kind');
      place.error('conflict', 'metadata of a host or of a cluster can be handed on, no other');
    }
  }
  const inner = resolveUpstreamSocket(message.transport_socket, scope.at('transport_socket'));
  return { ...inner, handedOn };
}
