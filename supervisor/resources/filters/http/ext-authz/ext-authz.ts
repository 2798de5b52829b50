/** Resolves envoy.extensions.filters.http.ext_authz.v3.ExtAuthz, and what routes say of it. */
import type {
  BufferSettings,
  CheckSettings,
  ExtAuthz,
  ExtAuthzPerRoute as PerRouteMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/ext_authz/v3/ext_authz.ts';
import type {
  AuthzService,
  CheckedBody,
  ExtAuthzFilterSettings,
  ExtAuthzOptions,
  ExtAuthzPerRoute,
} from '../../../../../shared/resources/filters/http/ext-authz.ts';
import { dictionary } from '../../../../../shared/text/dictionary.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { statusNumber } from '../../../http-status.ts';
import { resolveRuntimeFraction } from '../../../matchers/fraction.ts';
import { resolveMetadataMatcher } from '../../../matchers/value-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { resolveMutationRules } from '../../common/mutation-rules.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import {
  resolveAuthzGrpcService,
  resolveHttpService,
  resolveMatcherList,
} from './authz-service.ts';

const TYPE = 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthz';
const PER_ROUTE_TYPE = 'envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute';

export const EXT_AUTHZ_FILTER = httpFilter(
  'envoy.filters.http.ext_authz',
  TYPE,
  (message: ExtAuthz, scope, name): ExtAuthzFilterSettings => ({
    kind: 'ext_authz',
    name,
    options: resolveExtAuthz(message, scope),
  }),
  perRoute(PER_ROUTE_TYPE, resolvePerRoute),
);

const FIELDS = knownFields<ExtAuthz>(
  [
    'grpc_service',
    'http_service',
    'failure_mode_allow',
    'failure_mode_allow_header_add',
    'with_request_body',
    'clear_route_cache',
    'status_on_error',
    'validate_mutations',
    'metadata_context_namespaces',
    'typed_metadata_context_namespaces',
    'route_metadata_context_namespaces',
    'filter_enabled',
    'filter_enabled_metadata',
    'deny_at_disable',
    'include_peer_certificate',
    'stat_prefix',
    'allowed_headers',
    'disallowed_headers',
    'include_tls_session',
    'bootstrap_metadata_labels_key',
    'charge_cluster_response_stats',
    'encode_raw_headers',
    'decoder_header_mutation_rules',
    'enable_dynamic_metadata_ingestion',
    'emit_filter_state_stats',
    'max_denied_response_body_bytes',
    'shadow_mode',
  ],
  [
    // There is one version.
    'transport_api_version',
    // Spans of checks are the tracer's business.
    'emit_client_span',
  ],
);

function resolveExtAuthz(message: ExtAuthz, scope: Scope): ExtAuthzOptions {
  refuseOtherFields(message, FIELDS, scope);
  if (message.emit_filter_state_stats === true) {
    const text = 'it has no effect: filter state is text here, and has no fields';
    scope.at('emit_filter_state_stats').warning('no_effect', text);
  }
  if (message.transport_api_version === 'V2') {
    scope
      .at('transport_api_version')
      .error('conflict', 'V2 xDS transport protocol version is deprecated', 'write V3');
  }
  const { decoder_header_mutation_rules: rules, with_request_body: body } = message;
  return {
    statPrefix: message.stat_prefix ?? '',
    ...optional('service', resolveService(message, scope)),
    ...optional('body', body && checkedBody(body)),
    clearsRoute: message.clear_route_cache ?? false,
    ...resolveWhen(message, scope),
    ...resolveFailures(message),
    ...resolveAsked(message, scope),
    validatesMutations: message.validate_mutations ?? false,
    ...optional(
      'mutationRules',
      rules && resolveMutationRules(rules, scope.at('decoder_header_mutation_rules')),
    ),
    deniedBodyBytesMax: message.max_denied_response_body_bytes ?? 0,
  };
}

/** Which requests are asked about. */
function resolveWhen(
  message: ExtAuthz,
  scope: Scope,
): Pick<ExtAuthzOptions, 'enabled' | 'enabledMetadata' | 'denyAtDisable'> {
  const { filter_enabled: enabled, filter_enabled_metadata: metadata } = message;
  return {
    ...optional('enabled', enabled && resolveRuntimeFraction(enabled)),
    ...optional(
      'enabledMetadata',
      metadata && resolveMetadataMatcher(metadata, scope.at('filter_enabled_metadata')),
    ),
    denyAtDisable: {
      runtimeKey: message.deny_at_disable?.runtime_key ?? '',
      byDefault: message.deny_at_disable?.default_value ?? false,
    },
  };
}

function resolveFailures(
  message: ExtAuthz,
): Pick<
  ExtAuthzOptions,
  | 'failureModeAllow'
  | 'addsFailureHeader'
  | 'statusOnError'
  | 'chargesCluster'
  | 'ingestsMetadata'
  | 'isShadow'
> {
  return {
    failureModeAllow: message.failure_mode_allow ?? false,
    addsFailureHeader: message.failure_mode_allow_header_add ?? false,
    statusOnError: statusNumber(message.status_on_error?.code) ?? 403,
    chargesCluster: message.charge_cluster_response_stats ?? true,
    ingestsMetadata: message.enable_dynamic_metadata_ingestion ?? true,
    isShadow: message.shadow_mode ?? false,
  };
}

/** What a check is told. */
function resolveAsked(
  message: ExtAuthz,
  scope: Scope,
): Pick<
  ExtAuthzOptions,
  | 'metadataNamespaces'
  | 'routeMetadataNamespaces'
  | 'includesPeerCertificate'
  | 'includesTlsSession'
  | 'labelsKey'
  | 'allowedHeaders'
  | 'disallowedHeaders'
  | 'sendsRawHeaders'
  | 'typedMetadataNamespaces'
> {
  const older = message.http_service?.authorization_request?.allowed_headers;
  const own = message.allowed_headers;
  if (older !== undefined && own !== undefined) {
    const text = 'Invalid duplicate configuration for allowed_headers.';
    scope.at('allowed_headers').error('conflict', text);
  }
  const allowed = resolveMatcherList(own ?? older, scope.at('allowed_headers'));
  const disallowed = resolveMatcherList(message.disallowed_headers, scope.at('disallowed_headers'));
  return {
    typedMetadataNamespaces: message.typed_metadata_context_namespaces ?? [],
    metadataNamespaces: message.metadata_context_namespaces ?? [],
    routeMetadataNamespaces: message.route_metadata_context_namespaces ?? [],
    includesPeerCertificate: message.include_peer_certificate ?? false,
    includesTlsSession: message.include_tls_session ?? false,
    labelsKey: message.bootstrap_metadata_labels_key ?? '',
    ...optional('allowedHeaders', allowed),
    disallowedHeaders: disallowed ?? [],
    sendsRawHeaders: message.encode_raw_headers ?? false,
  };
}

/** A filter or a route has at most one of the two. */
function resolveService(
  { grpc_service: grpc, http_service: http }: ExtAuthz | CheckSettings,
  scope: Scope,
): AuthzService | undefined {
  if (grpc !== undefined) return resolveAuthzGrpcService(grpc, scope.at('grpc_service'));
  return http && resolveHttpService(http, scope.at('http_service'));
}

function checkedBody(message: BufferSettings): CheckedBody {
  return {
    maxBytes: message.max_request_bytes ?? 0,
    allowsPartial: message.allow_partial_message ?? false,
    asBytes: message.pack_as_bytes ?? false,
  };
}

const SETTINGS_FIELDS = knownFields<CheckSettings>(
  [
    'context_extensions',
    'disable_request_body_buffering',
    'with_request_body',
    'grpc_service',
    'http_service',
  ],
  ['emit_client_span'],
);

function resolvePerRoute(message: PerRouteMessage, scope: Scope): ExtAuthzPerRoute {
  const settings = message.check_settings ?? {};
  const place = scope.at('check_settings');
  refuseOtherFields(settings, SETTINGS_FIELDS, place);
  const { with_request_body: body, disable_request_body_buffering: disables = false } = settings;
  if (disables && body !== undefined) {
    place.error(
      'conflict',
      'Invalid configuration for check_settings. Only one of disable_request_body_buffering or with_request_body can be set.',
    );
  }
  return {
    isDisabled: message.disabled ?? false,
    contextExtensions: dictionary(Object.entries(settings.context_extensions ?? {})),
    disablesBody: disables,
    ...optional('body', body && checkedBody(body)),
    ...optional('service', resolveService(settings, place)),
  };
}
