/** Transport sockets of listeners and clusters: plain bytes and TLS. Anything else is refused. */
import type { TransportSocket } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { DownstreamTls, UpstreamTls } from '../../shared/resources/tls.ts';
import { extension, ExtensionRegistry } from './extensions.ts';
import type { Scope } from './scope.ts';
import { resolveDownstreamTls, resolveUpstreamTls } from './tls/tls-context.ts';

interface Resolved<Tls> {
  readonly tls: Tls | undefined;
}

const rawBuffer = extension(
  'envoy.transport_sockets.raw_buffer',
  'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
  () => ({ tls: undefined }),
);
const TLS_NAME = 'envoy.transport_sockets.tls';
const TLS_TYPE = 'envoy.extensions.transport_sockets.tls.v3';

export const DOWNSTREAM_SOCKETS = new ExtensionRegistry<Resolved<DownstreamTls>>(
  'envoy.transport_sockets.downstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${TLS_TYPE}.DownstreamTlsContext`, (message: object, scope) => ({
      tls: resolveDownstreamTls(message, scope),
    })),
  ],
);

export const UPSTREAM_SOCKETS = new ExtensionRegistry<Resolved<UpstreamTls>>(
  'envoy.transport_sockets.upstream',
  'transport socket',
  [
    rawBuffer,
    extension(TLS_NAME, `${TLS_TYPE}.UpstreamTlsContext`, (message: object, scope) => ({
      tls: resolveUpstreamTls(message, scope),
    })),
  ],
);

/** Undefined for plain bytes and after a reported problem. */
export function resolveDownstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): DownstreamTls | undefined {
  return message === undefined ? undefined : DOWNSTREAM_SOCKETS.resolve(message, scope)?.tls;
}

/** Undefined for plain bytes and after a reported problem. */
export function resolveUpstreamSocket(
  message: TransportSocket | undefined,
  scope: Scope,
): UpstreamTls | undefined {
  return message === undefined ? undefined : UPSTREAM_SOCKETS.resolve(message, scope)?.tls;
}
