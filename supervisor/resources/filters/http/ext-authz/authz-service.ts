/** Resolves the service that envoy.filters.http.ext_authz asks, by HTTP or gRPC. */
import type { HttpUri } from '../../../../../shared/api/generated/envoy/config/core/v3/http_uri.ts';
import type { GrpcService } from '../../../../../shared/api/generated/envoy/config/core/v3/grpc_service.ts';
import type {
  AuthorizationRequest,
  AuthorizationResponse,
  HttpService,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/ext_authz/v3/ext_authz.ts';
import type { ListStringMatcher } from '../../../../../shared/api/generated/envoy/type/matcher/v3/string.ts';
import type {
  AuthzGrpcService,
  AuthzHttpService,
} from '../../../../../shared/resources/filters/http/ext-authz.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type { StringMatcher } from '../../../../../shared/resources/routes/matchers.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveGrpcService } from '../../../grpc-service.ts';
import { resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import { resolveRetryPolicy } from '../../../routes/retry-policy.ts';
import { resolveHeaderValue } from '../../../routes/header-changes.ts';
import type { Scope } from '../../../scope.ts';
import { durationMsOr, optional } from '../../../values.ts';

const DEFAULT_TIMEOUT_MS = 200;

const FIELDS = knownFields<HttpService>([
  'server_uri',
  'path_prefix',
  'path_override',
  'authorization_request',
  'authorization_response',
  'retry_policy',
]);
const REQUEST_FIELDS = knownFields<AuthorizationRequest>(['allowed_headers', 'headers_to_add']);
const RESPONSE_FIELDS = knownFields<AuthorizationResponse>([
  'allowed_upstream_headers',
  'allowed_upstream_headers_to_append',
  'allowed_client_headers',
  'allowed_client_headers_on_success',
  'dynamic_metadata_from_headers',
]);

export function resolveHttpService(message: HttpService, scope: Scope): AuthzHttpService {
  refuseOtherFields(message, FIELDS, scope);
  const { path_prefix: prefix = '', path_override: override = '', server_uri: uri } = message;
  if (prefix !== '' && !prefix.startsWith('/')) {
    scope.at('path_prefix').error('conflict', 'path_prefix should start with "/".');
  }
  if (override !== '' && !override.startsWith('/')) {
    scope.at('path_override').error('conflict', 'path_override should start with "/".');
  }
  if (prefix !== '' && override !== '') {
    const text = 'Only one of path_prefix or path_override may be specified.';
    scope.at('path_override').error('conflict', text);
  }
  const retry = message.retry_policy;
  return {
    kind: 'http',
    ...serverOf(uri),
    pathPrefix: toByteString(prefix),
    pathOverride: toByteString(override),
    ...resolveRequest(message.authorization_request ?? {}, scope.at('authorization_request')),
    ...resolveResponse(message.authorization_response ?? {}, scope.at('authorization_response')),
    ...optional('retryPolicy', retry && resolveRetryPolicy(retry, scope.at('retry_policy'))),
  };
}

function serverOf(uri: HttpUri | undefined): Pick<AuthzHttpService, 'cluster' | 'timeoutMs'> {
  return {
    cluster: uri?.cluster ?? '',
    timeoutMs: Math.floor(durationMsOr(uri?.timeout, DEFAULT_TIMEOUT_MS)),
  };
}

function resolveRequest(
  message: AuthorizationRequest,
  scope: Scope,
): Pick<AuthzHttpService, 'headersToAdd'> {
  refuseOtherFields(message, REQUEST_FIELDS, scope);
  const headersToAdd = (message.headers_to_add ?? []).map((header, index) =>
    resolveHeaderValue(
      { header, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
      scope.at('headers_to_add', index),
    ),
  );
  return { headersToAdd };
}

function resolveResponse(
  message: AuthorizationResponse,
  scope: Scope,
): Pick<
  AuthzHttpService,
  | 'upstreamHeaders'
  | 'upstreamHeadersToAppend'
  | 'clientHeaders'
  | 'clientHeadersOnSuccess'
  | 'metadataHeaders'
> {
  refuseOtherFields(message, RESPONSE_FIELDS, scope);
  const list = (field: keyof AuthorizationResponse): readonly StringMatcher[] =>
    resolveMatcherList(message[field], scope.at(field)) ?? [];
  return {
    upstreamHeaders: list('allowed_upstream_headers'),
    upstreamHeadersToAppend: list('allowed_upstream_headers_to_append'),
    clientHeaders: list('allowed_client_headers'),
    clientHeadersOnSuccess: list('allowed_client_headers_on_success'),
    metadataHeaders: list('dynamic_metadata_from_headers'),
  };
}

/** Undefined for an absent list, and for one without patterns, which says the same. */
export function resolveMatcherList(
  message: ListStringMatcher | undefined,
  scope: Scope,
): readonly StringMatcher[] | undefined {
  if (message === undefined) return undefined;
  const patterns = (message.patterns ?? []).map((pattern, index) =>
    resolveStringMatcher(pattern, scope.at('patterns', index)),
  );
  const found = patterns.filter((pattern) => pattern !== undefined);
  return found.length === 0 ? undefined : found;
}

/** Undefined after a reported problem. */
export function resolveAuthzGrpcService(
  { timeout, ...message }: GrpcService,
  scope: Scope,
): AuthzGrpcService | undefined {
  const target = resolveGrpcService(message, scope);
  const timeoutMs = Math.floor(durationMsOr(timeout, DEFAULT_TIMEOUT_MS));
  return target && { kind: 'grpc', target, timeoutMs };
}
