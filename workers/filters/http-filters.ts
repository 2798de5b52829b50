/** Every HTTP filter that may stand before the router: one row each, kind and factory. */
import { makeRateLimitQuotaFilter } from './http/rate-limit-quota/rate-limit-quota.ts';
import { assert } from '../../shared/process/assert.ts';
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { HttpFilter } from '../../shared/resources/filters/http-filters.ts';
import type { FilterFactory } from '../stream/filter.ts';
import type { FilterContext } from './filter-context.ts';
import { makeAdaptiveConcurrencyFilter } from './http/adaptive-concurrency/adaptive-concurrency.ts';
import { makeAdmissionControlFilter } from './http/admission-control.ts';
import { makeAwsLambdaFilter } from './http/aws/lambda.ts';
import { makeAwsRequestSigningFilter } from './http/aws/request-signing.ts';
import { makeBandwidthLimitFilter } from './http/bandwidth-limit/bandwidth-limit.ts';
import { makeBandwidthShareFilter } from './http/bandwidth-limit/bandwidth-share.ts';
import { makeBasicAuthFilter } from './http/auth/basic-auth.ts';
import { makeBodySizeLimitFilter } from './http/limits/body-size-limit.ts';
import { makeCdnLoopFilter } from './http/cdn-loop.ts';
import { makeBufferFilter } from './http/limits/buffer.ts';
import { makeCompressorFilter } from './http/compressor/compressor.ts';
import { makeCorsFilter } from './http/cors.ts';
import { makeCsrfFilter } from './http/csrf.ts';
import { makeDecompressorFilter } from './http/decompressor/decompressor.ts';
import { makeDynamicForwardProxyFilter } from './http/dynamic-forward-proxy.ts';
import { makeExtAuthzFilter } from './http/ext-authz/ext-authz.ts';
import { makeExtProcFilter } from './http/ext-proc/ext-proc.ts';
import { makeFaultFilter } from './http/fault.ts';
import { makeGrpcStatsFilter } from './http/grpc/grpc-stats.ts';
import { makeGrpcWebFilter } from './http/grpc/grpc-web.ts';
import { makeHttp1BridgeFilter } from './http/grpc/http1-bridge.ts';
import { makeReverseBridgeFilter } from './http/grpc/reverse-bridge.ts';
import { makeTranscoderFilter } from './http/grpc-json/json-transcoder.ts';
import { makeHeaderMutationFilter } from './http/header-mutation.ts';
import { makeHeaderToMetadataFilter } from './http/header-to-metadata.ts';
import { makeHealthCheckFilter } from './http/health-check.ts';
import { makeApiKeyAuthFilter } from './http/auth/api-key-auth.ts';
import { makeCredentialInjectorFilter } from './http/auth/credential-injector.ts';
import { makeJsonToMetadataFilter } from './http/json-to-metadata.ts';
import { makeThriftToMetadataFilter } from './http/thrift-to-metadata.ts';
import { makeGeoipFilter } from './http/geoip.ts';
import { makeIpTaggingFilter } from './http/ip-tagging.ts';
import { makeJwtAuthnFilter } from './http/jwt-authn/jwt-authn.ts';
import { makeLocalRateLimitFilter } from './http/local-rate-limit/local-rate-limit.ts';
import { makeOAuth2Filter } from './http/oauth2/oauth2.ts';
import { makeLuaFilter } from './http/lua/lua-filter.ts';
import { makeOnDemandFilter } from './http/on-demand.ts';
import { makeRateLimitFilter } from './http/rate-limit/rate-limit.ts';
import { makeRbacFilter } from './http/rbac.ts';
import { makeScriptFilter } from './http/script/script-filter.ts';
import { makeSetFilterStateFilter } from './http/set-filter-state.ts';
import { makeSetMetadataFilter } from './http/set-metadata.ts';
import { makeStatefulSessionFilter } from './http/stateful-session/stateful-session.ts';
import { makeGcpAuthnFilter } from './http/auth/gcp-authn.ts';
import { makeSseToMetadataFilter } from './http/sse-to-metadata.ts';
import { makeTapFilter } from './http/tap.ts';
import { makeTransformFilter } from './http/transform.ts';
import { makeCompositeFilter } from './http/composite/composite.ts';
import { makeFilterChainFilter } from './http/composite/filter-chain.ts';
import { makeCustomResponseFilter } from './http/custom-response/custom-response.ts';
import { makeHttpCacheV2Filter } from './http/cache/http-cache-v2.ts';
import { makeHttpCacheFilter } from './http/cache/http-cache.ts';
import { makeAlpnFilter } from './http/istio/alpn.ts';
import { makePeerMetadataFilter } from './http/istio/peer-metadata.ts';
import { makeDiscoveredFilter } from './http/discovered.ts';

/** The router ends a chain and is made with it. */
type FilterBeforeRouter = Exclude<HttpFilter, { readonly kind: 'router' }>;

const FACTORIES: KindTable<FilterBeforeRouter, [FilterContext], FilterFactory> = new KindTable({
  compressor: makeCompressorFilter,
  decompressor: makeDecompressorFilter,
  csrf: makeCsrfFilter,
  basic_auth: makeBasicAuthFilter,
  cors: makeCorsFilter,
  fault: makeFaultFilter,
  body_size_limit: makeBodySizeLimitFilter,
  cdn_loop: makeCdnLoopFilter,
  buffer: makeBufferFilter,
  local_ratelimit: makeLocalRateLimitFilter,
  rbac: makeRbacFilter,
  health_check: makeHealthCheckFilter,
  set_metadata: makeSetMetadataFilter,
  set_filter_state: makeSetFilterStateFilter,
  stateful_session: makeStatefulSessionFilter,
  header_mutation: makeHeaderMutationFilter,
  gcp_authn: makeGcpAuthnFilter,
  sse_to_metadata: makeSseToMetadataFilter,
  tap: makeTapFilter,
  transform: makeTransformFilter,
  grpc_stats: makeGrpcStatsFilter,
  grpc_json_transcoder: makeTranscoderFilter,
  grpc_web: makeGrpcWebFilter,
  grpc_http1_bridge: makeHttp1BridgeFilter,
  grpc_http1_reverse_bridge: makeReverseBridgeFilter,
  header_to_metadata: makeHeaderToMetadataFilter,
  ext_authz: makeExtAuthzFilter,
  ext_proc: makeExtProcFilter,
  ratelimit: makeRateLimitFilter,
  bandwidth_limit: makeBandwidthLimitFilter,
  bandwidth_share: makeBandwidthShareFilter,
  admission_control: makeAdmissionControlFilter,
  aws_lambda: makeAwsLambdaFilter,
  aws_request_signing: makeAwsRequestSigningFilter,
  adaptive_concurrency: makeAdaptiveConcurrencyFilter,
  dynamic_forward_proxy: makeDynamicForwardProxyFilter,
  jwt_authn: makeJwtAuthnFilter,
  ip_tagging: makeIpTaggingFilter,
  geoip: makeGeoipFilter,
  thrift_to_metadata: makeThriftToMetadataFilter,
  json_to_metadata: makeJsonToMetadataFilter,
  credential_injector: makeCredentialInjectorFilter,
  api_key_auth: makeApiKeyAuthFilter,
  lua: makeLuaFilter,
  script: makeScriptFilter,
  on_demand: makeOnDemandFilter,
  oauth2: makeOAuth2Filter,
  cache: makeHttpCacheFilter,
  cache_v2: makeHttpCacheV2Filter,
  rate_limit_quota: makeRateLimitQuotaFilter,
  istio_alpn: makeAlpnFilter,
  peer_metadata: makePeerMetadataFilter,
  custom_response: makeCustomResponseFilter,
  composite: (filter, context) => makeCompositeFilter(filter, context, makeFilterFactory),
  filter_chain: (filter, context) => makeFilterChainFilter(filter, context, makeFilterFactory),
  discovered: (filter, context) => makeDiscoveredFilter(filter, context, makeFilterFactory),
});

export function makeFilterFactory(filter: HttpFilter, context: FilterContext): FilterFactory {
  assert(FACTORIES.has(filter), `no filter of kind ${filter.kind} may stand before the router`);
  return FACTORIES.make(filter, context);
}
