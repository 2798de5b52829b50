/** Resolves envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor, and what routes say of it. */
import type {
  ExternalProcessor,
  ExtProcOverrides as OverridesMessage,
  ExtProcPerRoute as PerRouteMessage,
  HeaderForwardingRules,
  MetadataOptions,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/ext_proc/v3/ext_proc.ts';
import type {
  ExtProcFilterSettings,
  ExtProcOptions,
  ExtProcOverrides,
  ExtProcPerRoute,
  MetadataNamespaces,
  ProcessorService,
  RouteCacheAction,
} from '../../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveGrpcService } from '../../../grpc-service.ts';
import { statusNumber } from '../../../http-status.ts';
import type { Scope } from '../../../scope.ts';
import { resolveHttpService } from '../../../telemetry/http-service.ts';
import { durationMsOr, optional } from '../../../values.ts';
import { resolveMutationRules } from '../../common/mutation-rules.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import { resolveMatcherList } from '../ext-authz/authz-service.ts';
import { resolveSentAttributes } from './sent-attributes.ts';
import { checkResponseProcessor } from './response-processors.ts';
import { checkModes, resolveMode } from './processing-mode.ts';

const DEFAULT_TIMEOUT_MS = 200;
const DEFAULT_DEFERRED_CLOSE_MS = 5000;
const DEFAULT_ERROR_STATUS = 500;

const FIELDS = knownFields<ExternalProcessor>(
  [
    'grpc_service',
    'http_service',
    'failure_mode_allow',
    'processing_mode',
    'request_attributes',
    'response_attributes',
    'message_timeout',
    'stat_prefix',
    'mutation_rules',
    'max_message_timeout',
    'forward_rules',
    'allow_mode_override',
    'allowed_override_modes',
    'disable_immediate_response',
    'metadata_options',
    'observability_mode',
    'disable_clear_route_cache',
    'route_cache_action',
    'deferred_close_timeout',
    'send_body_without_waiting_for_header_response',
    'processing_request_modifier',
    'on_processing_response',
    'status_on_error',
    'allow_content_length_header',
  ],
  [
    // It is read by extensions of Envoy alone.
    'filter_metadata',
    // Spans of calls are the tracer's business.
    'emit_client_span',
  ],
);
const OVERRIDE_FIELDS = knownFields<OverridesMessage>(
  [
    'processing_mode',
    'grpc_service',
    'metadata_options',
    'grpc_initial_metadata',
    'failure_mode_allow',
    'processing_request_modifier',
  ],
  // Envoy has the lists of attributes in its API, and does not look at them here.
  ['async_mode', 'emit_client_span', 'request_attributes', 'response_attributes'],
);

export const EXT_PROC_FILTER = httpFilter(
  'envoy.filters.http.ext_proc',
  'envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor',
  (message: ExternalProcessor, scope, name): ExtProcFilterSettings | undefined => {
    const options = resolveExtProc(message, scope);
    return options && { kind: 'ext_proc', name, options };
  },
  perRoute('envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute', resolvePerRoute),
);

/** Undefined after a reported problem. */
function resolveExtProc(message: ExternalProcessor, scope: Scope): ExtProcOptions | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const service = resolveService(message, scope);
  const mode = resolveMode(message.processing_mode ?? {});
  checkModes(mode, message.http_service !== undefined, scope);
  checkResponseProcessor(message.on_processing_response, scope.at('on_processing_response'));
  if (service === undefined) return undefined;
  return {
    statPrefix: message.stat_prefix ?? '',
    service,
    mode,
    failureModeAllow: message.failure_mode_allow ?? false,
    statusOnError: statusNumber(message.status_on_error?.code) ?? DEFAULT_ERROR_STATUS,
    messageTimeoutMs: durationMsOr(message.message_timeout, DEFAULT_TIMEOUT_MS),
    maxMessageTimeoutMs: durationMsOr(message.max_message_timeout, 0),
    ...resolveSentAttributes(message, scope),
    metadata: { ...NO_NAMESPACES, ...resolveNamespaces(message.metadata_options) },
    mutationRules: resolveMutationRules(message.mutation_rules ?? {}, scope.at('mutation_rules')),
    ...resolveForwarding(message.forward_rules, scope.at('forward_rules')),
    allowsModeOverride: message.allow_mode_override ?? false,
    allowedOverrideModes: (message.allowed_override_modes ?? []).map(resolveMode),
    refusesImmediateResponses: message.disable_immediate_response ?? false,
    isObserver: message.observability_mode ?? false,
    deferredCloseMs: durationMsOr(message.deferred_close_timeout, DEFAULT_DEFERRED_CLOSE_MS),
    routeCacheAction: resolveRouteCache(message, scope),
    sendsBodyEarly: message.send_body_without_waiting_for_header_response ?? false,
    keepsContentLength: message.allow_content_length_header ?? false,
  };
}

function resolveService(message: ExternalProcessor, scope: Scope): ProcessorService | undefined {
  const { grpc_service: grpc, http_service: http } = message;
  if ((grpc === undefined) === (http === undefined)) {
    scope.error('conflict', 'One and only one of grpc_service or http_service must be configured');
    return undefined;
  }
  if (grpc !== undefined) return grpcService(grpc, scope.at('grpc_service'));
  const place = scope.at('http_service', 'http_service');
  return { kind: 'http', ...resolveHttpService(http?.http_service ?? {}, place) };
}

function grpcService(
  { timeout: _streamsHaveNone, ...message }: NonNullable<ExternalProcessor['grpc_service']>,
  scope: Scope,
): ProcessorService | undefined {
  const target = resolveGrpcService(message, scope);
  return target && { kind: 'grpc', target };
}

function resolveForwarding(
  rules: HeaderForwardingRules | undefined,
  scope: Scope,
): Pick<ExtProcOptions, 'allowedHeaders' | 'disallowedHeaders'> {
  const allowed = resolveMatcherList(rules?.allowed_headers, scope.at('allowed_headers'));
  const disallowed = resolveMatcherList(rules?.disallowed_headers, scope.at('disallowed_headers'));
  return { ...optional('allowedHeaders', allowed), disallowedHeaders: disallowed ?? [] };
}

const NO_NAMESPACES: MetadataNamespaces = {
  sent: [],
  sentTyped: [],
  sentOfCluster: [],
  received: [],
};

/** A processor's typed metadata have no place here: they are structs alone. */
function resolveNamespaces(options: MetadataOptions | undefined): Partial<MetadataNamespaces> {
  const {
    forwarding_namespaces: sent,
    cluster_metadata_forwarding_namespaces: ofCluster,
    receiving_namespaces: received,
  } = options ?? {};
  return {
    ...optional('sent', sent && (sent.untyped ?? [])),
    ...optional('sentTyped', sent && (sent.typed ?? [])),
    ...optional('sentOfCluster', ofCluster && (ofCluster.untyped ?? [])),
    ...optional('received', received && (received.untyped ?? [])),
  };
}

function resolveRouteCache(message: ExternalProcessor, scope: Scope): RouteCacheAction {
  const { disable_clear_route_cache: keeps = false, route_cache_action: action } = message;
  const isOther = action !== undefined && action !== 'DEFAULT' && action !== 0;
  if (keeps && isOther) {
    const text =
      'disable_clear_route_cache and route_cache_action can not be set to none-default at the same time.';
    scope.at('route_cache_action').error('conflict', text);
  }
  if (keeps || action === 'RETAIN') return 'RETAIN';
  return action === 'CLEAR' ? 'CLEAR' : 'DEFAULT';
}

function resolvePerRoute(message: PerRouteMessage, scope: Scope): ExtProcPerRoute {
  const overrides = message.overrides ?? {};
  const place = scope.at('overrides');
  refuseOtherFields(overrides, OVERRIDE_FIELDS, place);
  return {
    isDisabled: message.disabled ?? false,
    overrides: resolveOverrides(overrides, place),
  };
}

function resolveOverrides(message: OverridesMessage, scope: Scope): ExtProcOverrides {
  const { processing_mode: mode, grpc_service: grpc, metadata_options: metadata } = message;
  return {
    ...optional('mode', mode && resolveMode(mode)),
    ...optional('service', grpc && grpcService(grpc, scope.at('grpc_service'))),
    ...optional('failureModeAllow', message.failure_mode_allow),
    ...optional('metadata', metadata && resolveNamespaces(metadata)),
    ...ownAttributes(message, scope),
    callMetadata: (message.grpc_initial_metadata ?? []).map(({ key = '', value = '' }) => [
      key.toLowerCase(),
      value,
    ]),
  };
}

/** A modifier names all attributes; without one the filter's own hold. */
function ownAttributes(
  message: OverridesMessage,
  scope: Scope,
): Pick<ExtProcOverrides, 'requestAttributes' | 'responseAttributes'> {
  const { processing_request_modifier: modifier } = message;
  return modifier === undefined
    ? {}
    : resolveSentAttributes({ processing_request_modifier: modifier }, scope);
}
