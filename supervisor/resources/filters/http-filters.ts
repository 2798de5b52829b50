/**
 * Every HTTP filter that configuration may name, one row each; what their types say of routes is in
 * the same rows.
 */
import { RATE_LIMIT_QUOTA_FILTER } from './http/rate-limit-quota.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { ALTERNATE_PROTOCOLS_CACHE } from './http/protocols/alternate-protocols-cache.ts';
import { ExtensionRegistry, type ExtensionMessage } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import type { HttpFilterRow } from './http-filter-row.ts';
import { ADAPTIVE_CONCURRENCY_FILTER } from './http/adaptive-concurrency.ts';
import { ADMISSION_CONTROL_FILTER } from './http/admission-control.ts';
import { AWS_LAMBDA_FILTER } from './http/aws/lambda.ts';
import { AWS_REQUEST_SIGNING_FILTER } from './http/aws/request-signing.ts';
import { BANDWIDTH_LIMIT_FILTER } from './http/bandwidth-limit.ts';
import { BANDWIDTH_SHARE_FILTER } from './http/limits/bandwidth-share.ts';
import { BASIC_AUTH_FILTER } from './http/auth/basic-auth.ts';
import { BODY_SIZE_LIMIT_FILTER } from './http/limits/body-size-limit.ts';
import { CDN_LOOP_FILTER } from './http/cdn-loop.ts';
import { BUFFER_FILTER } from './http/limits/buffer.ts';
import { compositeFilter, matchedFilter } from './http/matching/composite.ts';
import { filterChainFilter } from './http/matching/filter-chain.ts';
import { COMPRESSOR_FILTER } from './http/compressor/compressor.ts';
import { CORS_FILTER } from './http/cors.ts';
import { CSRF_FILTER } from './http/csrf.ts';
import { CUSTOM_RESPONSE_FILTER } from './http/matching/custom-response.ts';
import { HTTP_CACHE_FILTER, HTTP_CACHE_V2_FILTER } from './http/matching/http-cache.ts';
import { DECOMPRESSOR_FILTER } from './http/decompressor.ts';
import { DYNAMIC_FORWARD_PROXY_FILTER } from './http/dynamic-forward-proxy.ts';
import { EXT_AUTHZ_FILTER } from './http/ext-authz/ext-authz.ts';
import { EXT_PROC_FILTER } from './http/ext-proc/ext-proc.ts';
import { FAULT_FILTER } from './http/fault.ts';
import { GRPC_STATS_FILTER } from './http/grpc/grpc-stats.ts';
import { GRPC_WEB_FILTER } from './http/grpc/grpc-web.ts';
import { HTTP1_BRIDGE_FILTER } from './http/grpc/http1-bridge.ts';
import { REVERSE_BRIDGE_FILTER } from './http/grpc/reverse-bridge.ts';
import { ISTIO_ALPN_FILTER } from './http/istio/alpn.ts';
import { PEER_METADATA_FILTER } from './http/istio/peer-metadata.ts';
import { TRANSCODER_FILTER } from './http/grpc-json/json-transcoder.ts';
import { HEADER_MUTATION_FILTER } from './http/header-mutation.ts';
import { HEADER_TO_METADATA_FILTER } from './http/header-to-metadata.ts';
import { HEALTH_CHECK_FILTER } from './http/health-check.ts';
import { API_KEY_AUTH_FILTER } from './http/auth/api-key-auth.ts';
import { CREDENTIAL_INJECTOR_FILTER } from './http/auth/credential-injector.ts';
import { JSON_TO_METADATA_FILTER } from './http/json-to-metadata.ts';
import { THRIFT_TO_METADATA_FILTER } from './http/matching/thrift-to-metadata.ts';
import { GEOIP_FILTER } from './http/matching/geoip.ts';
import { IP_TAGGING_FILTER } from './http/ip-tagging.ts';
import { JWT_AUTHN_FILTER } from './http/jwt-authn/jwt-authn.ts';
import { LOCAL_RATE_LIMIT_FILTER } from './http/local-rate-limit.ts';
import { OAUTH2_FILTER } from './http/oauth2/oauth2.ts';
import { LUA_FILTER } from './http/lua.ts';
import { ON_DEMAND_FILTER } from './http/on-demand.ts';
import { RATE_LIMIT_FILTER } from './http/rate-limit.ts';
import { RBAC_FILTER } from './http/rbac/rbac.ts';
import { ROUTER_FILTER } from './http/router.ts';
import { SCRIPT_FILTER } from './http/script/script.ts';
import { SET_FILTER_STATE_FILTER } from './http/set-filter-state.ts';
import { SET_METADATA_FILTER } from './http/set-metadata.ts';
import { STATEFUL_SESSION_FILTER } from './http/stateful-session.ts';
import { GCP_AUTHN_FILTER } from './http/auth/gcp-authn.ts';
import { SSE_TO_METADATA_FILTER } from './http/matching/sse-to-metadata.ts';
import { TAP_FILTER } from './http/tap/tap.ts';
import { TRANSFORM_FILTER } from './http/transform.ts';

/** Not by type: its settings come from elsewhere, and what they are is one of these. */
type KindWithoutType = 'discovered';

type TypedKind = Exclude<HttpFilter['kind'], KindWithoutType>;

/** Their order is that of messages which say what there is. */
const ROWS = {
  router: ROUTER_FILTER,
  cors: CORS_FILTER,
  fault: FAULT_FILTER,
  body_size_limit: BODY_SIZE_LIMIT_FILTER,
  cdn_loop: CDN_LOOP_FILTER,
  buffer: BUFFER_FILTER,
  local_ratelimit: LOCAL_RATE_LIMIT_FILTER,
  rbac: RBAC_FILTER,
  grpc_stats: GRPC_STATS_FILTER,
  header_mutation: HEADER_MUTATION_FILTER,
  health_check: HEALTH_CHECK_FILTER,
  compressor: COMPRESSOR_FILTER,
  decompressor: DECOMPRESSOR_FILTER,
  csrf: CSRF_FILTER,
  on_demand: ON_DEMAND_FILTER,
  oauth2: OAUTH2_FILTER,
  basic_auth: BASIC_AUTH_FILTER,
  gcp_authn: GCP_AUTHN_FILTER,
  sse_to_metadata: SSE_TO_METADATA_FILTER,
  tap: TAP_FILTER,
  transform: TRANSFORM_FILTER,
  set_metadata: SET_METADATA_FILTER,
  set_filter_state: SET_FILTER_STATE_FILTER,
  stateful_session: STATEFUL_SESSION_FILTER,
  dynamic_forward_proxy: DYNAMIC_FORWARD_PROXY_FILTER,
  header_to_metadata: HEADER_TO_METADATA_FILTER,
  ext_authz: EXT_AUTHZ_FILTER,
  ext_proc: EXT_PROC_FILTER,
  ratelimit: RATE_LIMIT_FILTER,
  bandwidth_limit: BANDWIDTH_LIMIT_FILTER,
  bandwidth_share: BANDWIDTH_SHARE_FILTER,
  admission_control: ADMISSION_CONTROL_FILTER,
  aws_lambda: AWS_LAMBDA_FILTER,
  aws_request_signing: AWS_REQUEST_SIGNING_FILTER,
  adaptive_concurrency: ADAPTIVE_CONCURRENCY_FILTER,
  jwt_authn: JWT_AUTHN_FILTER,
  ip_tagging: IP_TAGGING_FILTER,
  geoip: GEOIP_FILTER,
  thrift_to_metadata: THRIFT_TO_METADATA_FILTER,
  json_to_metadata: JSON_TO_METADATA_FILTER,
  credential_injector: CREDENTIAL_INJECTOR_FILTER,
  api_key_auth: API_KEY_AUTH_FILTER,
  lua: LUA_FILTER,
  script: SCRIPT_FILTER,
  composite: [compositeFilter(resolveInner), matchedFilter(resolveInner)],
  filter_chain: filterChainFilter(resolveInner),
  custom_response: CUSTOM_RESPONSE_FILTER,
  cache: HTTP_CACHE_FILTER,
  cache_v2: HTTP_CACHE_V2_FILTER,
  rate_limit_quota: RATE_LIMIT_QUOTA_FILTER,
  grpc_web: GRPC_WEB_FILTER,
  grpc_json_transcoder: TRANSCODER_FILTER,
  grpc_http1_bridge: HTTP1_BRIDGE_FILTER,
  grpc_http1_reverse_bridge: REVERSE_BRIDGE_FILTER,
  istio_alpn: ISTIO_ALPN_FILTER,
  peer_metadata: PEER_METADATA_FILTER,
};

export const FILTERS = new ExtensionRegistry<HttpFilter, HttpFilterRow, TypedKind>(
  'envoy.filters.http',
  'HTTP filter',
  ROWS,
  // It leaves nothing to do in workers.
  [ALTERNATE_PROTOCOLS_CACHE],
);

/** A filter inside of another, which never ends a chain. */
function resolveInner(
  message: ExtensionMessage,
  scope: Scope,
  name = message.name ?? '',
): HttpFilter | undefined {
  const found = FILTERS.find(message, scope);
  if (found === undefined) return undefined;
  if (found.factory.isTerminal) {
    scope.error(
      'conflict',
      `Error: terminal filter ${found.factory.name} inside of another filter`,
    );
    return undefined;
  }
  return found.factory.resolve(found.config, scope.at('typed_config'), name);
}

resolveInner.isUpstream = false;
resolveInner.isKnownType = (url: string, scope: Scope): boolean =>
  FILTERS.knows({ typed_config: { '@type': url } }, scope);

/** By the type of a route's message. */
export const PER_ROUTE_SETTINGS = new Map(
  FILTERS.rows().flatMap(({ perRoute }) =>
    perRoute === undefined ? [] : [[perRoute.type, perRoute]],
  ),
);
