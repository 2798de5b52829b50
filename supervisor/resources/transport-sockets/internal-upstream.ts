/** Resolves which metadata goes with connections to internal listeners. */
import type { InternalUpstreamTransport } from '../../../shared/api/generated/envoy/extensions/transport_sockets/internal_upstream/v3/internal_upstream.ts';
import type { UpstreamSocketOptions } from '../../../shared/resources/transport-sockets.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<InternalUpstreamTransport>(['passthrough_metadata', 'transport_socket']);

/** Requests and routes have no metadata of their own where connections are opened. */
export function withMetadata(
  inner: UpstreamSocketOptions,
  message: InternalUpstreamTransport,
  scope: Scope,
): UpstreamSocketOptions {
  refuseOtherFields(message, FIELDS, scope);
  const handedOn: { of: 'host' | 'cluster'; name: string }[] = [];
  for (const [index, { kind, name = '' }] of (message.passthrough_metadata ?? []).entries()) {
    if (kind?.host !== undefined) handedOn.push({ of: 'host', name });
    else if (kind?.cluster !== undefined) handedOn.push({ of: 'cluster', name });
    else {
      const place = scope.at('passthrough_metadata', index, 'kind');
      place.error('conflict', 'metadata of a host or of a cluster can be handed on, no other');
    }
  }
  return { ...inner, handedOn };
}
