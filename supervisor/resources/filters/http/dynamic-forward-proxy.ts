/**
 * Resolves envoy.filters.http.dynamic_forward_proxy. The cache of names is that of the cluster that
 * a request is for, whose settings the filter has to repeat.
 */
import type {
  FilterConfig,
  PerRouteConfig,
  SubClusterConfig,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/dynamic_forward_proxy/v3/dynamic_forward_proxy.ts';
import type {
  DynamicForwardProxyPerRoute,
  DynamicForwardProxyFilterSettings,
} from '../../../../shared/resources/filters/http/dynamic-forward-proxy.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { asciiLower } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FIELDS = knownFields<FilterConfig>(
  ['dns_cache_config', 'sub_cluster_config', 'allow_dynamic_host_from_filter_state'],
  // Kept for access logs and filters that no other setting here names.
  ['save_upstream_address'],
);
const SUB_CLUSTER_FIELDS = knownFields<SubClusterConfig>(['cluster_init_timeout']);
const PER_ROUTE_FIELDS = knownFields<PerRouteConfig>([
  'host_rewrite_literal',
  'host_rewrite_header',
]);
const CLUSTER_INIT_TIMEOUT_MS = 5_000;

const DYNAMIC_FORWARD_PROXY_PER_ROUTE_TYPE =
  'envoy.extensions.filters.http.dynamic_forward_proxy.v3.PerRouteConfig';

export const DYNAMIC_FORWARD_PROXY_FILTER = httpFilter(
  'envoy.filters.http.dynamic_forward_proxy',
  'envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig',
  (message: FilterConfig, scope, name): DynamicForwardProxyFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const { sub_cluster_config: subClusters = {} } = message;
    refuseOtherFields(subClusters, SUB_CLUSTER_FIELDS, scope.at('sub_cluster_config'));
    return {
      kind: 'dynamic_forward_proxy',
      name,
      options: {
        clusterInitTimeoutMs: durationMsOr(
          subClusters.cluster_init_timeout,
          CLUSTER_INIT_TIMEOUT_MS,
        ),
        ...(message.allow_dynamic_host_from_filter_state === true
          ? { takesDynamicHost: true }
          : {}),
      },
    };
  },
  perRoute(DYNAMIC_FORWARD_PROXY_PER_ROUTE_TYPE, resolveDynamicForwardProxyPerRoute),
);

function resolveDynamicForwardProxyPerRoute(
  message: PerRouteConfig,
  scope: Scope,
): DynamicForwardProxyPerRoute {
  refuseOtherFields(message, PER_ROUTE_FIELDS, scope);
  const { host_rewrite_literal: literal = '', host_rewrite_header: header = '' } = message;
  return {
    ...(literal === '' ? {} : { hostRewriteLiteral: literal }),
    ...(header === '' ? {} : { hostRewriteHeader: asciiLower(header) }),
  };
}
