/** Resolves envoy.config.cluster.v3.Cluster. */
import type { Cluster } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { BindConfig } from '../../../shared/api/generated/envoy/config/core/v3/address.ts';
import type { ClusterResource } from '../../../shared/resources/clusters/cluster.ts';
import { statScope } from '../../../shared/stats/stat-scope.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { audienceOfCluster } from './gcp-audience.ts';
import { resolveMetadata } from '../metadata.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { Discovery, NamedFilter, ResolvedCluster } from '../../resolved/resolved-bootstrap.ts';
import { Scope } from '../scope.ts';
import { resolveSockets } from './cluster-sockets.ts';
import { durationMs, durationMsOr, float, optional } from '../values.ts';
import { resolveCircuitBreakers } from './circuit-breakers.ts';
import { isStatic, resolveDiscovery } from './discovery.ts';
import type { DnsDefaults } from './dns-cluster.ts';
import { forwardProxyOptions } from './forward-proxy-cluster.ts';
import { resolveCheckEventLogs, resolveHealthChecks } from './health-checks.ts';
import { ANY_POLICY } from '../balancing/child-policies.ts';
import { resolveLoadBalancing } from '../balancing/load-balancing.ts';
import { resolveStaticHosts, withoutHosts } from './load-assignment.ts';
import { resolveLocalSockets } from './local-sockets.ts';
import { resolveOutlierDetection } from './outlier-detection.ts';
import { resolveRedisOptions } from './redis-options.ts';
import { resolveThriftOptions } from './thrift-options.ts';
import { resolveTcpOptions } from './tcp-options.ts';
import { checkAlpn, resolveUpstreamHttp } from './upstream-http.ts';

const FIELDS = knownFields<Cluster>([
  'name',
  'alt_stat_name',
  'lrs_report_endpoint_metrics',
  'type',
  'cluster_type',
  'eds_cluster_config',
  'connect_timeout',
  'per_connection_buffer_limit_bytes',
  'lb_policy',
  'load_balancing_policy',
  'load_assignment',
  'max_requests_per_connection',
  'circuit_breakers',
  'common_http_protocol_options',
  'http_protocol_options',
  'http2_protocol_options',
  'typed_extension_protocol_options',
  'upstream_bind_config',
  'round_robin_lb_config',
  'least_request_lb_config',
  'common_lb_config',
  'lb_subset_config',
  'original_dst_lb_config',
  'cleanup_interval',
  'transport_socket',
  'transport_socket_matches',
  'metadata',
  'protocol_selection',
  'upstream_connection_options',
  'upstream_config',
  'preconnect_policy',
  'connection_pool_per_downstream_connection',
  'close_connections_on_host_health_failure',
  'track_timeout_budgets',
  'track_cluster_stats',
  'health_checks',
  'outlier_detection',
  'ignore_health_on_host_removal',
  'filters',
  'dns_refresh_rate',
  'dns_failure_refresh_rate',
  'respect_dns_ttl',
  'dns_lookup_family',
  'dns_resolvers',
  'use_tcp_for_dns_lookups',
  'dns_resolution_config',
  'typed_dns_resolver_config',
  'dns_jitter',
  'wait_for_warm_on_init',
  'upstream_http_protocol_options',
  'ring_hash_lb_config',
  'maglev_lb_config',
]);

/** What streams are made of: all leave that to the route. */
export const CONNECTION_POOLS = new ExtensionRegistry<true>(
  'envoy.upstreams',
  'upstream connection pool',
  [
    extension(
      'envoy.upstreams.http.generic',
      'envoy.extensions.upstreams.http.generic.v3.GenericConnectionPoolProto',
      () => true,
    ),
    extension(
      'envoy.upstreams.http.http',
      'envoy.extensions.upstreams.http.http.v3.HttpConnectionPoolProto',
      () => true,
    ),
    extension(
      'envoy.upstreams.tcp.generic',
      'envoy.extensions.upstreams.tcp.generic.v3.GenericConnectionPoolProto',
      () => true,
    ),
  ],
);

const PRECONNECT_FIELDS = knownFields<NonNullable<Cluster['preconnect_policy']>>([
  'per_upstream_preconnect_ratio',
  'predictive_preconnect_ratio',
]);

const CONNECT_TIMEOUT_MS = 5_000;
const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** What the bootstrap sets for all clusters that do not say otherwise. */
export interface ClusterDefaults {
  /** The cluster manager's addresses to bind to. */
  readonly bindConfig: BindConfig | undefined;
  readonly dns: DnsDefaults;
}

export function resolveCluster(
  message: Cluster,
  defaults: ClusterDefaults,
  outer: Scope,
): ResolvedCluster {
  refuseOtherFields(message, FIELDS, outer);
  if ((message.lrs_report_endpoint_metrics ?? []).length > 0) {
    const text = 'lrs_report_endpoint_metrics has no effect: no metric is reported';
    outer.at('lrs_report_endpoint_metrics').warning('no_effect', text);
  }
  const secrets: NamedSecret[] = [];
  const namedFilters: NamedFilter[] = [];
  const onNamedSecret = (secret: NamedSecret): void => void secrets.push(secret);
  const onNamedFilter = (filter: NamedFilter): void => void namedFilters.push(filter);
  const scope = new Scope({ ...outer.context, onNamedSecret, onNamedFilter }, outer.place);
  const name = message.name ?? '';
  if (message.upstream_config !== undefined) {
    CONNECTION_POOLS.resolve(message.upstream_config, scope.at('upstream_config'));
  }
  const discovery = resolveDiscovery(message, defaults.dns, scope);
  const hosts = isStatic(message)
    ? resolveStaticHosts(name, message.load_assignment, scope.at('load_assignment'))
    : withoutHosts(name, message.load_assignment, scope.at('load_assignment'));
  const resource = resolveResource(name, message, defaults.bindConfig, scope);
  const outlier =
    message.outlier_detection === undefined
      ? undefined
      : resolveOutlierDetection(message.outlier_detection, scope.at('outlier_detection'));
  const { healthChecks = [], upstreamHttp } = resource;
  const asksByGrpc = healthChecks.some(({ probe }) => probe.kind === 'grpc');
  if (asksByGrpc && upstreamHttp.protocol === 'HTTP1') {
    scope
      .at('health_checks')
      .error('conflict', `${name} cluster must support HTTP/2 for gRPC healthchecking`);
  }
  checkAlpn(name, resource, scope);
  return {
    resource: {
      ...resource,
      ...providedBy(discovery, resource),
      ...optional('outlierDetection', outlier?.thresholds),
    },
    hosts,
    observabilityName: message.alt_stat_name ?? name,
    secrets,
    ...(namedFilters.length === 0 ? {} : { namedFilters }),
    ...optional('discovery', discovery),
    ...optional('outlierDetection', outlier),
    ...switchesOf(message),
    ...(healthChecks.some(({ eventLog }) => eventLog !== undefined)
      ? {
          checkEventLogs: resolveCheckEventLogs(message.health_checks, scope.at('health_checks')),
        }
      : {}),
  };
}

/** What the balancer of a cluster that brings its own has to know. */
function providedBy(
  discovery: Discovery | undefined,
  resource: ClusterResource,
): Partial<Pick<ClusterResource, 'lbPolicy' | 'upstreamHttp'>> {
  switch (discovery?.kind) {
    case 'forward_proxy':
    case 'sub_clusters':
      return forwardProxyOptions(discovery, resource);
    case 'aggregate':
      return { lbPolicy: discovery };
    case 'requested': {
      const { kind: _, ...options } = discovery;
      return { lbPolicy: { kind: 'original_dst', options } };
    }
    default:
      return {};
  }
}

function resolveResource(
  name: string,
  message: Cluster,
  bindConfig: BindConfig | undefined,
  scope: Scope,
): ClusterResource {
  const { upstream_connection_options: connection } = message;
  const bind = message.upstream_bind_config ?? bindConfig;
  const { policy, ...balancing } = resolveLoadBalancing(message, scope);
  return {
    name,
    statName: statScope(message.alt_stat_name ?? name),
    ...optional('observabilityName', message.alt_stat_name),
    connectTimeoutMs: durationMsOr(message.connect_timeout, CONNECT_TIMEOUT_MS),
    lbPolicy: policy.kind === 'cluster_provided' ? ANY_POLICY : policy,
    ...balancing,
    perConnectionBufferLimitBytes: message.per_connection_buffer_limit_bytes ?? BUFFER_LIMIT_BYTES,
    ...resolveCircuitBreakers(message.circuit_breakers, scope.at('circuit_breakers')),
    ...resolveUpstreamHttp(message, scope),
    ...resolveTcpOptions(message, scope),
    ...resolveRedisOptions(message, scope),
    ...resolveThriftOptions(message, scope),
    ...optional(
      'localSockets',
      resolveLocalSockets(bind, connection?.tcp_keepalive, scope.at('upstream_bind_config')),
    ),
    ...resolvePools(message, scope),
    ...resolveSockets(message, scope),
    ...optional(
      'healthChecks',
      resolveHealthChecks(message.health_checks, scope.at('health_checks')),
    ),
    closeConnectionsOnHostHealthFailure: message.close_connections_on_host_health_failure ?? false,
    ...(message.common_lb_config?.close_connections_on_host_set_change === true
      ? { renewsPoolsWithHosts: true }
      : {}),
    ignoreNewHostsUntilFirstHealthCheck:
      message.common_lb_config?.ignore_new_hosts_until_first_hc ?? false,
    ...optional('metadata', resolveMetadata(message.metadata)),
    ...optional('gcpAudience', audienceOfCluster(message.metadata, scope.at('metadata'))),
    trackClusterStats: resolveTracking(message),
  };
}

function resolvePools(
  message: Cluster,
  scope: Scope,
): Pick<ClusterResource, 'preconnect' | 'hasPoolPerClient' | 'firstFamily'> {
  const { preconnect_policy: policy, connection_pool_per_downstream_connection: isPerClient } =
    message;
  const own = {
    ...optional('firstFamily', firstFamily(message)),
    ...(isPerClient === true ? { hasPoolPerClient: true as const } : {}),
  };
  if (policy === undefined) return own;
  refuseOtherFields(policy, PRECONNECT_FIELDS, scope.at('preconnect_policy'));
  const perHost = float(policy.per_upstream_preconnect_ratio ?? 1);
  const predictive = float(policy.predictive_preconnect_ratio ?? 1);
  return { ...own, preconnect: { perHost, predictive } };
}

function firstFamily({
  upstream_connection_options: options,
}: Cluster): ClusterResource['firstFamily'] {
  switch (options?.happy_eyeballs_config?.first_address_family_version) {
    case 'V4':
      return 'v4';
    case 'V6':
      return 'v6';
    default:
      return undefined;
  }
}

function switchesOf({
  wait_for_warm_on_init: waits,
  ignore_health_on_host_removal: ignoresHealth,
  track_cluster_stats: track,
  common_lb_config: { update_merge_window: mergeWindow } = {},
}: Cluster): Pick<
  ResolvedCluster,
  'isUsedAtOnce' | 'ignoresHealthOnRemoval' | 'hasEndpointStats' | 'mergeWindowMs'
> {
  return {
    ...optional('mergeWindowMs', mergeWindow === undefined ? undefined : durationMs(mergeWindow)),
    ...(waits === false ? { isUsedAtOnce: true } : {}),
    ...(ignoresHealth === true ? { ignoresHealthOnRemoval: true } : {}),
    ...(track?.per_endpoint_stats === true ? { hasEndpointStats: true } : {}),
  };
}

/** The older field is one of the newer ones. */
function resolveTracking({
  track_cluster_stats: track = {},
  track_timeout_budgets: budgets,
}: Cluster): ClusterResource['trackClusterStats'] {
  return {
    timeoutBudgets: track.timeout_budgets ?? budgets ?? false,
    requestResponseSizes: track.request_response_sizes ?? false,
  };
}
