/** Resolves envoy.config.route.v3.RouteAction: sending a request to an upstream. */
import type { RouteAction } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { ClusterRouteAction } from '../../../shared/resources/routes/route.ts';
import { resolveCorsPolicy } from '../filters/http/cors.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr, optional } from '../values.ts';
import { resolveInternalRedirect } from './internal-redirect.ts';
import type { RouteScope } from './route.ts';
import { resolveClusterSpecifier } from './cluster-specifier.ts';
import { resolveHashPolicies } from './hash-policy.ts';
import { resolveRateLimits } from './rate-limits.ts';
import { resolveMirrorPolicies, resolveResilience } from './resilience.ts';
import { resolveHostRewrite, resolvePathRewrite } from './rewrites.ts';
import { resolveUpgrades } from './upgrades.ts';

const FIELDS = knownFields<RouteAction>(
  [
    'cluster',
    'cluster_header',
    'weighted_clusters',
    'cluster_specifier_plugin',
    'inline_cluster_specifier_plugin',
    'cluster_not_found_response_code',
    'metadata_match',
    'prefix_rewrite',
    'regex_rewrite',
    'path_rewrite_policy',
    'path_rewrite',
    'host_rewrite_literal',
    'auto_host_rewrite',
    'host_rewrite_header',
    'host_rewrite_path_regex',
    'host_rewrite',
    'append_x_forwarded_host',
    'timeout',
    'idle_timeout',
    'retry_policy',
    'retry_policy_typed_config',
    'hedge_policy',
    'request_mirror_policies',
    'priority',
    'hash_policy',
    'max_grpc_timeout',
    'grpc_timeout_offset',
    'upgrade_configs',
    'internal_redirect_policy',
    'internal_redirect_action',
    'max_internal_redirects',
    'max_stream_duration',
    'include_vh_rate_limits',
    'rate_limits',
    'cors',
  ],
  // Read by filters that are not there, which are refused by themselves.
  ['early_data_policy'],
);

const ROUTE_TIMEOUT_MS = 15_000;
const NOT_FOUND_STATUS: Readonly<Record<string, number>> = {
  SERVICE_UNAVAILABLE: 503,
  NOT_FOUND: 404,
  INTERNAL_SERVER_ERROR: 500,
};

/** Undefined after a reported problem. */
export function resolveClusterAction(
  message: RouteAction,
  { references, mirrorPolicies }: RouteScope,
  scope: Scope,
): ClusterRouteAction | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const cluster = resolveClusterSpecifier(message, references, scope);
  const own = resolveMirrorPolicies(
    message.request_mirror_policies,
    references,
    scope.at('request_mirror_policies'),
  );
  const { idle_timeout: idle } = message;
  const status = NOT_FOUND_STATUS[message.cluster_not_found_response_code ?? ''];
  const rest = {
    clusterNotFoundStatus: status ?? 503,
    ...optional('metadataMatch', resolveMetadata(message.metadata_match)),
    ...optional('pathRewrite', resolvePathRewrite(message, scope)),
    ...optional('hostRewrite', resolveHostRewrite(message, scope)),
    appendXForwardedHost: message.append_x_forwarded_host ?? false,
    timeoutMs: durationMsOr(message.timeout, ROUTE_TIMEOUT_MS),
    ...optional('idleTimeoutMs', idle === undefined ? undefined : durationMs(idle)),
    ...resolveStreamLimits(message),
    priority: message.priority === 'HIGH' ? 'HIGH' : 'DEFAULT',
    ...resolveResilience(message, scope),
    hashPolicies: resolveHashPolicies(message.hash_policy, scope.at('hash_policy')),
    mirrorPolicies: own.length > 0 ? own : mirrorPolicies,
    upgrades: resolveUpgrades(message.upgrade_configs, scope.at('upgrade_configs')),
    includeVirtualHostRateLimits: message.include_vh_rate_limits ?? false,
    ...optional('rateLimits', resolveRateLimits(message.rate_limits, scope.at('rate_limits'))),
    ...optional('cors', message.cors && resolveCorsPolicy(message.cors, scope.at('cors'))),
    ...optional('internalRedirect', resolveInternalRedirect(message, scope)),
  } as const;
  return cluster === undefined ? undefined : { kind: 'cluster', cluster, ...rest };
}

type StreamLimits = Pick<ClusterRouteAction, 'streamDuration' | 'maxGrpcTimeout'>;

function resolveStreamLimits(message: RouteAction): StreamLimits {
  const { max_stream_duration: limits, max_grpc_timeout: grpcMax } = message;
  const ms = (text: string | undefined): number | undefined =>
    text === undefined ? undefined : durationMs(text);
  return {
    ...optional(
      'streamDuration',
      limits && {
        ...optional('maxMs', ms(limits.max_stream_duration)),
        ...optional('grpcHeaderMaxMs', ms(limits.grpc_timeout_header_max)),
        ...optional('grpcHeaderOffsetMs', ms(limits.grpc_timeout_header_offset)),
      },
    ),
    ...optional(
      'maxGrpcTimeout',
      grpcMax === undefined
        ? undefined
        : { maxMs: durationMs(grpcMax), offsetMs: ms(message.grpc_timeout_offset) ?? 0 },
    ),
  };
}
