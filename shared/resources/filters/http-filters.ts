/**
 * Every HTTP filter, one line each. What workers may receive, which factories they need and which
 * stats there are follows from this list.
 */
import { RATE_LIMIT_QUOTA_DECLARATION } from './http/limits/rate-limit-quota.ts';
import { type DeclaredBy, templatesOf } from './declare-filter.ts';
import { ADAPTIVE_CONCURRENCY_DECLARATION } from './http/limits/adaptive-concurrency.ts';
import { ADMISSION_CONTROL_DECLARATION } from './http/limits/admission-control.ts';
import { AWS_LAMBDA_DECLARATION } from './http/aws/lambda.ts';
import { AWS_REQUEST_SIGNING_DECLARATION } from './http/aws/request-signing.ts';
import { BANDWIDTH_LIMIT_DECLARATION } from './http/limits/bandwidth-limit.ts';
import { BANDWIDTH_SHARE_DECLARATION } from './http/limits/bandwidth-share.ts';
import { BASIC_AUTH_DECLARATION } from './http/auth/basic-auth.ts';
import { BODY_SIZE_LIMIT_DECLARATION } from './http/limits/body-size-limit.ts';
import { BUFFER_DECLARATION } from './http/limits/buffer.ts';
import { CDN_LOOP_DECLARATION } from './http/cdn-loop.ts';
import { COMPOSITE_DECLARATION } from './http/matching/composite.ts';
import { COMPRESSOR_DECLARATION } from './http/compressor.ts';
import { CORS_DECLARATION } from './http/cors.ts';
import { CSRF_DECLARATION } from './http/csrf.ts';
import { CUSTOM_RESPONSE_DECLARATION } from './http/matching/custom-response.ts';
import { HTTP_CACHE_DECLARATION, HTTP_CACHE_V2_DECLARATION } from './http/matching/http-cache.ts';
import { DECOMPRESSOR_DECLARATION } from './http/decompressor.ts';
import { DISCOVERED_DECLARATION } from './http/discovered.ts';
import { DYNAMIC_FORWARD_PROXY_DECLARATION } from './http/dynamic-forward-proxy.ts';
import { EXT_AUTHZ_DECLARATION } from './http/ext-authz.ts';
import { EXT_PROC_DECLARATION } from './http/ext-proc/ext-proc.ts';
import { FILTER_CHAIN_DECLARATION } from './http/matching/filter-chain.ts';
import { FAULT_DECLARATION } from './http/fault.ts';
import { GRPC_STATS_DECLARATION } from './http/grpc/grpc-stats.ts';
import { GRPC_WEB_DECLARATION } from './http/grpc/grpc-web.ts';
import { HTTP1_BRIDGE_DECLARATION } from './http/grpc/http1-bridge.ts';
import { REVERSE_BRIDGE_DECLARATION } from './http/grpc/reverse-bridge.ts';
import { TRANSCODER_DECLARATION } from './http/grpc-json-transcoder.ts';
import { HEADER_MUTATION_DECLARATION } from './http/header-mutation.ts';
import { HEADER_TO_METADATA_DECLARATION } from './http/header-to-metadata.ts';
import { HEALTH_CHECK_DECLARATION } from './http/health-check.ts';
import { API_KEY_AUTH_DECLARATION } from './http/auth/api-key-auth.ts';
import { CREDENTIAL_INJECTOR_DECLARATION } from './http/auth/credential-injector.ts';
import { JSON_TO_METADATA_DECLARATION } from './http/json-to-metadata.ts';
import { THRIFT_TO_METADATA_DECLARATION } from './http/matching/thrift-to-metadata.ts';
import { GEOIP_DECLARATION } from './http/matching/geoip.ts';
import { IP_TAGGING_DECLARATION } from './http/ip-tagging.ts';
import { JWT_AUTHN_DECLARATION } from './http/jwt-authn.ts';
import { LUA_DECLARATION } from './http/lua/lua.ts';
import { LOCAL_RATE_LIMIT_DECLARATION } from './http/local-rate-limit.ts';
import { OAUTH2_DECLARATION } from './http/auth/oauth2.ts';
import { ON_DEMAND_DECLARATION } from './http/on-demand.ts';
import { RATE_LIMIT_DECLARATION } from './http/limits/rate-limit.ts';
import { RBAC_DECLARATION } from './http/rbac.ts';
import { ROUTER_DECLARATION } from './http/router.ts';
import { SCRIPT_DECLARATION } from './http/script/script.ts';
import { SET_FILTER_STATE_DECLARATION } from './http/set-filter-state.ts';
import { SET_METADATA_DECLARATION } from './http/set-metadata.ts';
import { STATEFUL_SESSION_DECLARATION } from './http/stateful-session.ts';
import { GCP_AUTHN_DECLARATION } from './http/auth/gcp-authn.ts';
import { SSE_TO_METADATA_DECLARATION } from './http/matching/sse-to-metadata.ts';
import { TAP_DECLARATION } from './http/tap.ts';
import { TRANSFORM_DECLARATION } from './http/matching/transform.ts';
import { ALPN_DECLARATION } from './http/istio/alpn.ts';
import { PEER_METADATA_DECLARATION } from './http/istio/peer-metadata.ts';

const HTTP_FILTERS = [
  ROUTER_DECLARATION,
  CORS_DECLARATION,
  FAULT_DECLARATION,
  CDN_LOOP_DECLARATION,
  BODY_SIZE_LIMIT_DECLARATION,
  BUFFER_DECLARATION,
  LOCAL_RATE_LIMIT_DECLARATION,
  RBAC_DECLARATION,
  HEADER_MUTATION_DECLARATION,
  HEALTH_CHECK_DECLARATION,
  COMPRESSOR_DECLARATION,
  DECOMPRESSOR_DECLARATION,
  CSRF_DECLARATION,
  ON_DEMAND_DECLARATION,
  OAUTH2_DECLARATION,
  BASIC_AUTH_DECLARATION,
  GCP_AUTHN_DECLARATION,
  SSE_TO_METADATA_DECLARATION,
  TAP_DECLARATION,
  TRANSFORM_DECLARATION,
  SET_METADATA_DECLARATION,
  SET_FILTER_STATE_DECLARATION,
  STATEFUL_SESSION_DECLARATION,
  DYNAMIC_FORWARD_PROXY_DECLARATION,
  DISCOVERED_DECLARATION,
  HEADER_TO_METADATA_DECLARATION,
  EXT_AUTHZ_DECLARATION,
  EXT_PROC_DECLARATION,
  LUA_DECLARATION,
  SCRIPT_DECLARATION,
  RATE_LIMIT_DECLARATION,
  ADAPTIVE_CONCURRENCY_DECLARATION,
  ADMISSION_CONTROL_DECLARATION,
  AWS_LAMBDA_DECLARATION,
  AWS_REQUEST_SIGNING_DECLARATION,
  BANDWIDTH_LIMIT_DECLARATION,
  BANDWIDTH_SHARE_DECLARATION,
  JWT_AUTHN_DECLARATION,
  IP_TAGGING_DECLARATION,
  GEOIP_DECLARATION,
  THRIFT_TO_METADATA_DECLARATION,
  JSON_TO_METADATA_DECLARATION,
  CREDENTIAL_INJECTOR_DECLARATION,
  API_KEY_AUTH_DECLARATION,
  COMPOSITE_DECLARATION,
  FILTER_CHAIN_DECLARATION,
  HTTP_CACHE_DECLARATION,
  HTTP_CACHE_V2_DECLARATION,
  RATE_LIMIT_QUOTA_DECLARATION,
  CUSTOM_RESPONSE_DECLARATION,
  GRPC_STATS_DECLARATION,
  GRPC_WEB_DECLARATION,
  HTTP1_BRIDGE_DECLARATION,
  REVERSE_BRIDGE_DECLARATION,
  TRANSCODER_DECLARATION,
  ALPN_DECLARATION,
  PEER_METADATA_DECLARATION,
] as const;

export type HttpFilter = DeclaredBy<typeof HTTP_FILTERS>;

export const HTTP_FILTER_TEMPLATES = templatesOf(HTTP_FILTERS);
