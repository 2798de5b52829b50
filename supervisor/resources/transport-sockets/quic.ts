/**
 * Resolves the QUIC socket of clusters that offer other versions of HTTP beside HTTP/3: these are
 * what connections use, in Envoy over the same TLS.
 */
import type { QuicUpstreamTransport } from '../../../shared/api/generated/envoy/extensions/transport_sockets/quic/v3/quic_transport.ts';
import type { UpstreamSocketOptions } from '../../../shared/resources/transport-sockets.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveUpstreamTls } from '../tls/tls-context.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<QuicUpstreamTransport>(['upstream_tls_context']);

export function resolveQuic(message: QuicUpstreamTransport, scope: Scope): UpstreamSocketOptions {
  refuseOtherFields(message, FIELDS, scope);
  scope.warning(
    'no_effect',
    'Node.js has no QUIC: connections are made over TCP with the same TLS',
  );
  const { upstream_tls_context: tls = {} } = message;
  return optional('tls', resolveUpstreamTls(tls, scope.at('upstream_tls_context')));
}
