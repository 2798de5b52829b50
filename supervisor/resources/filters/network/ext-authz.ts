/** Resolves the network filter ext_authz. */
import type { ExtAuthz } from '../../../../shared/api/generated/envoy/extensions/filters/network/ext_authz/v3/ext_authz.ts';
import type { NetworkExtAuthz } from '../../../../shared/resources/filters/network/ext-authz.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveMetadataMatcher } from '../../matchers/value-matcher.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { resolveAuthzGrpcService } from '../http/ext-authz/authz-service.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<ExtAuthz>(
  [
    'stat_prefix',
    'grpc_service',
    'failure_mode_allow',
    'include_peer_certificate',
    'include_tls_session',
    'filter_enabled_metadata',
    'bootstrap_metadata_labels_key',
    'metadata_context_namespaces',
    'shadow_mode',
  ],
  [
    // There is one version.
    'transport_api_version',
    // No network filter writes typed metadata.
    'typed_metadata_context_namespaces',
  ],
);

export const EXT_AUTHZ_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.ext_authz',
  'envoy.extensions.filters.network.ext_authz.v3.ExtAuthz',
  false,
  resolveExtAuthz,
);

function resolveExtAuthz(message: ExtAuthz, scope: Scope): NetworkExtAuthz | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const service = resolveAuthzGrpcService(message.grpc_service ?? {}, scope.at('grpc_service'));
  if (service === undefined) return undefined;
  const { filter_enabled_metadata: metadata } = message;
  const enabled = metadata && resolveMetadataMatcher(metadata, scope.at('filter_enabled_metadata'));
  return {
    kind: 'network_ext_authz',
    statPrefix: message.stat_prefix ?? '',
    target: service.target,
    timeoutMs: service.timeoutMs,
    failureModeAllow: message.failure_mode_allow ?? false,
    includesPeerCertificate: message.include_peer_certificate ?? false,
    includesTlsSession: message.include_tls_session ?? false,
    ...optional('enabledMetadata', enabled),
    labelsKey: message.bootstrap_metadata_labels_key ?? '',
    metadataNamespaces: message.metadata_context_namespaces ?? [],
    isShadow: message.shadow_mode ?? false,
  };
}
