/** Resolves envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy. */
import type {
  TcpProxy as ProxyMessage,
  TcpProxy_TcpAccessLogOptions,
  TcpProxy_WeightedCluster_ClusterWeight,
} from '../../../shared/api/generated/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.ts';
import type { TcpProxy } from '../../../shared/resources/network-filters.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr } from '../values.ts';

const FIELDS = knownFields<ProxyMessage>(
  [
    'stat_prefix',
    'cluster',
    'weighted_clusters',
    'idle_timeout',
    'access_log',
    'max_connect_attempts',
    'max_downstream_connection_duration',
    'access_log_flush_interval',
    'flush_access_log_on_connected',
    'access_log_options',
    'upstream_connect_mode',
  ],
  // Of connect modes that are refused, and of what is sent with headers that are refused.
  ['max_early_data_bytes', 'proxy_protocol_tlv_merge_policy'],
);
const LOG_FIELDS = knownFields<TcpProxy_TcpAccessLogOptions>([
  'access_log_flush_interval',
  'flush_access_log_on_connected',
]);
const WEIGHT_FIELDS = knownFields<TcpProxy_WeightedCluster_ClusterWeight>(['name', 'weight']);

const IDLE_TIMEOUT_MS = 3_600_000;

export const TCP_PROXY_FILTER = {
  ...extension(
    'envoy.filters.network.tcp_proxy',
    'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
    resolveTcpProxy,
  ),
  isTerminal: true,
};

function resolveTcpProxy(message: ProxyMessage, scope: Scope): TcpProxy {
  refuseOtherFields(message, FIELDS, scope);
  const { upstream_connect_mode: mode = 'IMMEDIATE' } = message;
  if (mode !== 'IMMEDIATE') {
    scope.at('upstream_connect_mode').unsupported(`connect mode ${mode} is`);
  }
  const clusters = resolveClusters(message, scope);
  return {
    kind: 'tcp_proxy',
    statPrefix: message.stat_prefix ?? '',
    clusters,
    totalWeight: clusters.reduce((sum, { weight }) => sum + weight, 0),
    maxConnectAttempts: message.max_connect_attempts ?? 1,
    idleTimeoutMs: durationMsOr(message.idle_timeout, IDLE_TIMEOUT_MS),
    maxConnectionDurationMs: durationMsOr(message.max_downstream_connection_duration, 0),
    accessLogs: resolveAccessLogs(message.access_log, scope.at('access_log')),
    ...resolveLogTimes(message, scope),
  };
}

/** Names are not checked: a cluster may come later, and until then connections are closed. */
function resolveClusters(message: ProxyMessage, scope: Scope): TcpProxy['clusters'] {
  const { weighted_clusters: weighted } = message;
  if (weighted === undefined) return [{ name: message.cluster ?? '', weight: 1 }];
  return (weighted.clusters ?? []).map((entry, index) => {
    refuseOtherFields(entry, WEIGHT_FIELDS, scope.at('weighted_clusters', 'clusters', index));
    return { name: entry.name ?? '', weight: entry.weight ?? 0 };
  });
}

function resolveLogTimes(
  message: ProxyMessage,
  scope: Scope,
): Pick<TcpProxy, 'logIntervalMs' | 'logOnConnected'> {
  const { access_log_options: options } = message;
  const place = scope.at('access_log_options');
  if (options !== undefined) refuseOtherFields(options, LOG_FIELDS, place);
  const from = options ?? message;
  const { access_log_flush_interval: interval } = from;
  return {
    logIntervalMs: interval === undefined ? 0 : durationMs(interval),
    logOnConnected: from.flush_access_log_on_connected ?? false,
  };
}
