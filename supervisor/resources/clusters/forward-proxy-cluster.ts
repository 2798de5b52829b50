/** Resolves envoy.clusters.dynamic_forward_proxy: a cluster of the names that requests carry. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type {
  ClusterConfig,
  SubClustersConfig,
} from '../../../shared/api/generated/envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type {
  Discovery,
  ForwardProxyDiscovery,
  SubClusterDiscovery,
} from '../../resolved/resolved-bootstrap.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { resolveDnsCache } from './dns-cache.ts';
import type { DnsDefaults } from './dns-cluster.ts';

const FIELDS = knownFields<ClusterConfig>(
  ['dns_cache_config', 'sub_clusters_config', 'allow_insecure_cluster_options'],
  // A field for connections that carry several requests at a time.
  ['allow_coalesced_connections'],
);

const SUB_CLUSTER_FIELDS = knownFields<SubClustersConfig>([
  'lb_policy',
  'max_sub_clusters',
  'sub_cluster_ttl',
  'dns_cluster_config',
  'preresolve_clusters',
]);
const SUB_CLUSTERS_MAX = 1024;
const SUB_CLUSTER_TTL_MS = 300_000;
/** A cluster in use is told of so often within its time to live. */
const TOUCHES_PER_TTL = 4;

export function resolveForwardProxy(
  config: ClusterConfig,
  scope: Scope,
  {
    message,
    place,
    defaults,
  }: {
    readonly message: Cluster;
    readonly place: Scope;
    readonly defaults: DnsDefaults;
  },
): Discovery | undefined {
  refuseOtherFields(config, FIELDS, scope);
  checkNames(config, message, place);
  const { dns_cache_config: cache, sub_clusters_config: subClusters } = config;
  if (subClusters !== undefined) return resolveSubClusters(subClusters, scope);
  if (cache === undefined) {
    scope.error('conflict', 'a dynamic forward proxy cluster needs dns_cache_config');
    return undefined;
  }
  const settings = resolveDnsCache(cache, defaults, scope.at('dns_cache_config'));
  return { kind: 'forward_proxy', cache: settings };
}

function resolveSubClusters(message: SubClustersConfig, outer: Scope): Discovery {
  const scope = outer.at('sub_clusters_config');
  refuseOtherFields(message, SUB_CLUSTER_FIELDS, scope);
  const { lb_policy: lbPolicy = 'ROUND_ROBIN', dns_cluster_config: dnsCluster } = message;
  if (lbPolicy === 'CLUSTER_PROVIDED') {
    scope
      .at('lb_policy')
      .error('conflict', `unsupported lb_policy 'CLUSTER_PROVIDED' in sub_cluster_config`);
  }
  if ((message.preresolve_clusters ?? []).length > 0) {
    scope
      .at('preresolve_clusters')
      .warning('no_effect', 'clusters are made when requests ask for them, as in Envoy');
  }
  const ttlMs = durationMsOr(message.sub_cluster_ttl, SUB_CLUSTER_TTL_MS);
  const settings = {
    lbPolicy,
    maxClusters: message.max_sub_clusters ?? SUB_CLUSTERS_MAX,
    ttlMs,
    touchIntervalMs: ttlMs / TOUCHES_PER_TTL,
    ...optional('dnsCluster', dnsCluster),
  };
  return { kind: 'sub_clusters', settings };
}

/**
 * Names of hosts that are sent and found in certificates: by default, and else as the cluster says.
 */
function checkNames(config: ClusterConfig, message: Cluster, place: Scope): void {
  const { upstream_http_protocol_options: names } = message;
  if (names === undefined || config.allow_insecure_cluster_options === true) return;
  if (names.auto_sni === true && names.auto_san_validation === true) return;
  place
    .at('upstream_http_protocol_options')
    .error(
      'conflict',
      'dynamic_forward_proxy cluster must have auto_sni and auto_san_validation true unless allow_insecure_cluster_options is set.',
    );
}

/** What workers have to know of it; over TLS the name of a host is sent and checked by default. */
export function forwardProxyOptions(
  discovery: ForwardProxyDiscovery | SubClusterDiscovery,
  { tls, upstreamHttp }: Pick<ClusterResource, 'tls' | 'upstreamHttp'>,
): Pick<ClusterResource, 'lbPolicy' | 'upstreamHttp'> {
  const hasSubClusters = discovery.kind === 'sub_clusters';
  const { touchIntervalMs } = hasSubClusters ? discovery.settings : discovery.cache;
  const options = { touchIntervalMs, ...(hasSubClusters ? { hasSubClusters } : {}) };
  const lbPolicy = {
    kind: 'dynamic_forward_proxy',
    options: { ...options, defaultPort: tls === undefined ? 80 : 443 },
  } as const;
  if (tls === undefined) return { lbPolicy, upstreamHttp };
  return {
    lbPolicy,
    upstreamHttp: { names: { sendsName: true, checksName: true }, ...upstreamHttp },
  };
}
