/** Resolves envoy.config.route.v3.VirtualHost. */
import type {
  Route as RouteMessage,
  VirtualCluster as VirtualClusterMessage,
  VirtualHost as VirtualHostMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { Route, VirtualCluster, VirtualHost } from '../../../shared/resources/routes/route.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import { resolveCorsPolicy } from '../filters/http/cors.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderMatchers } from '../matchers/header-matcher.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import type { DomainCheck } from './domains.ts';
import { resolveHeaderChanges } from './header-changes.ts';
import { resolvePerFilterConfig } from './per-filter-config.ts';
import { resolveRateLimits } from './rate-limits.ts';
import { resolveMirrorPolicies, resolveResilience } from './resilience.ts';
import { resolveRouteMatcher } from './route-matcher.ts';
import { bufferLimit, resolveRoute, type RouteScope } from './route.ts';

const FIELDS = knownFields<VirtualHostMessage>([
  'name',
  'domains',
  'routes',
  'matcher',
  'require_tls',
  'virtual_clusters',
  'request_headers_to_add',
  'request_headers_to_remove',
  'response_headers_to_add',
  'response_headers_to_remove',
  'typed_per_filter_config',
  'include_request_attempt_count',
  'include_attempt_count_in_response',
  'include_is_timeout_retry_header',
  'retry_policy',
  'retry_policy_typed_config',
  'hedge_policy',
  'request_mirror_policies',
  'metadata',
  'per_request_buffer_limit_bytes',
  'request_body_buffer_limit',
  'cors',
  'rate_limits',
]);
const VIRTUAL_CLUSTER_FIELDS = knownFields<VirtualClusterMessage>(['headers', 'name']);

/** Routes that are resolved in one step. */
const ROUTES_PER_STEP = 64;

export function* virtualHostInSteps(
  message: VirtualHostMessage,
  domains: DomainCheck,
  routes: RouteScope,
  scope: Scope,
): Steps<VirtualHost> {
  refuseOtherFields(message, FIELDS, scope);
  const { matcher, require_tls: requireTls } = message;
  if (matcher !== undefined && (message.routes ?? []).length > 0) {
    scope.error('conflict', 'cannot set both matcher and routes on virtual host');
  }
  const own = resolveMirrorPolicies(
    message.request_mirror_policies,
    routes.references,
    scope.at('request_mirror_policies'),
  );
  const inner = own.length > 0 ? { ...routes, mirrorPolicies: own } : routes;
  const resolved = yield* routesInSteps(message.routes ?? [], inner, scope);
  return {
    name: message.name ?? '',
    domains: domains.add(message.domains ?? [], scope.at('domains')),
    routes: resolved,
    ...optional('matcher', matcher && resolveRouteMatcher(matcher, inner, scope.at('matcher'))),
    requireTls: typeof requireTls === 'string' ? requireTls : 'NONE',
    virtualClusters: (message.virtual_clusters ?? []).map((cluster, index) =>
      resolveVirtualCluster(cluster, scope.at('virtual_clusters', index)),
    ),
    ...resolveHeaderChanges(message, scope),
    ...resolveSent(message),
    typedPerFilterConfig: resolvePerFilterConfig(message.typed_per_filter_config, scope),
    ...resolveResilience(message, scope),
    ...optional('rateLimits', resolveRateLimits(message.rate_limits, scope.at('rate_limits'))),
    ...optional('cors', message.cors && resolveCorsPolicy(message.cors, scope.at('cors'))),
    ...optional('metadata', resolveMetadata(message.metadata)),
    ...optional('perRequestBufferLimitBytes', bufferLimit(message)),
  };
}

function* routesInSteps(
  messages: readonly RouteMessage[],
  routes: RouteScope,
  scope: Scope,
): Steps<readonly Route[]> {
  const resolved: Route[] = [];
  for (const [index, message] of messages.entries()) {
    const route = resolveRoute(message, routes, scope.at('routes', index));
    if (route !== undefined) resolved.push(route);
    if ((index + 1) % ROUTES_PER_STEP === 0) yield;
  }
  return resolved;
}

/** What upstream hosts and clients are told of attempts. */
function resolveSent({
  include_request_attempt_count: inRequest = false,
  include_attempt_count_in_response: inResponse = false,
  include_is_timeout_retry_header: afterTimeout,
}: VirtualHostMessage): Pick<
  VirtualHost,
  'includeRequestAttemptCount' | 'includeAttemptCountInResponse' | 'includeIsTimeoutRetry'
> {
  return {
    includeRequestAttemptCount: inRequest,
    includeAttemptCountInResponse: inResponse,
    ...(afterTimeout === true ? { includeIsTimeoutRetry: true } : {}),
  };
}

function resolveVirtualCluster(message: VirtualClusterMessage, scope: Scope): VirtualCluster {
  refuseOtherFields(message, VIRTUAL_CLUSTER_FIELDS, scope);
  if ((message.headers ?? []).length === 0) {
    scope.error('conflict', "virtual clusters must define 'headers'");
  }
  return {
    name: message.name ?? '',
    headers: resolveHeaderMatchers(message.headers, scope.at('headers')),
  };
}
