/** Resolves envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy. */
import { joined } from '../../../shared/text/dictionary.ts';
import type { Metadata as MetadataMessage } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  TcpProxy as ProxyMessage,
  TcpProxy_TcpAccessLogOptions,
  TcpProxy_WeightedCluster_ClusterWeight,
} from '../../../shared/api/generated/envoy/extensions/filters/network/tcp_proxy/v3/tcp_proxy.ts';
import type { TcpProxy } from '../../../shared/resources/filters/network/tcp-proxy.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { resolveFormat } from '../access-logs/format.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr, shareOf, optional } from '../values.ts';
import { resolveBackOff } from './back-off.ts';
import { resolveTunneling } from './tunneling.ts';

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
    'hash_policy',
    'metadata_match',
    'tunneling_config',
    'backoff_options',
    'max_downstream_connection_duration_jitter_percentage',
    'check_drain_close',
    'proxy_protocol_tlvs',
    'proxy_protocol_tlv_merge_policy',
  ],
  // Fields for connect modes that are refused.
  ['max_early_data_bytes'],
);
const LOG_FIELDS = knownFields<TcpProxy_TcpAccessLogOptions>([
  'access_log_flush_interval',
  'flush_access_log_on_connected',
  'flush_access_log_on_start',
]);
const WEIGHT_FIELDS = knownFields<TcpProxy_WeightedCluster_ClusterWeight>([
  'name',
  'weight',
  'metadata_match',
]);

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
    ...optional('subset', subsetOf(message.metadata_match, undefined)),
    ...optional('hashPolicy', hashPolicyOf(message)),
    ...optional(
      'tunnel',
      message.tunneling_config &&
        resolveTunneling(message.tunneling_config, scope.at('tunneling_config')),
    ),
    maxConnectAttempts: message.max_connect_attempts ?? 1,
    ...optional('retryBackOff', resolveBackOff(message.backoff_options, scope)),
    idleTimeoutMs: durationMsOr(message.idle_timeout, IDLE_TIMEOUT_MS),
    maxConnectionDurationMs: durationMsOr(message.max_downstream_connection_duration, 0),
    ...optional('proxyTlvs', resolveProxyTlvs(message, scope)),
    durationJitter: shareOf(message.max_downstream_connection_duration_jitter_percentage),
    closesWhileDraining: message.check_drain_close ?? false,
    accessLogs: resolveAccessLogs(message.access_log, scope.at('access_log')),
    ...resolveLogTimes(message, scope),
  };
}

/** Names are not checked: a cluster may come later, and until then connections are closed. */
function resolveClusters(message: ProxyMessage, scope: Scope): TcpProxy['clusters'] {
  const { weighted_clusters: weighted } = message;
  const { metadata_match: common } = message;
  if (weighted === undefined) {
    const subset = subsetOf(common, undefined);
    return [{ name: message.cluster ?? '', weight: 1, ...optional('subset', subset) }];
  }
  return (weighted.clusters ?? []).map((entry, index) => {
    refuseOtherFields(entry, WEIGHT_FIELDS, scope.at('weighted_clusters', 'clusters', index));
    const { name = '', weight = 0, metadata_match: own } = entry;
    return { name, weight, ...optional('subset', subsetOf(common, own)) };
  });
}

function subsetOf(
  common: MetadataMessage | undefined,
  own: MetadataMessage | undefined,
): TcpProxy['subset'] {
  const [first, second] = [common, own].map((each) => resolveMetadata(each)?.['envoy.lb']);
  const subset = joined(first, second);
  return Object.keys(subset).length === 0 ? undefined : subset;
}

function hashPolicyOf({ hash_policy: policies }: ProxyMessage): TcpProxy['hashPolicy'] {
  const [policy] = policies ?? [];
  if (policy?.source_ip !== undefined) return { kind: 'source_ip' };
  return policy?.filter_state && { kind: 'filter_state', key: policy.filter_state.key ?? '' };
}

/** Those for clients that came without the PROXY protocol. */
function resolveProxyTlvs(message: ProxyMessage, scope: Scope): TcpProxy['proxyTlvs'] {
  const { proxy_protocol_tlvs: tlvs, proxy_protocol_tlv_merge_policy: policy } = message;
  if (policy !== undefined && policy !== 'ADD_IF_ABSENT') {
    scope.at('proxy_protocol_tlv_merge_policy').unsupported(`merge policy ${policy} is`);
  }
  return tlvs?.map((tlv, index) => {
    const { type = 0, value = '', format_string: format } = tlv;
    const place = scope.at('proxy_protocol_tlvs', index, 'format_string');
    return format === undefined ? { type, value } : { type, format: resolveFormat(format, place) };
  });
}

function resolveLogTimes(
  message: ProxyMessage,
  scope: Scope,
): Pick<TcpProxy, 'logIntervalMs' | 'logOnStart' | 'logOnConnected'> {
  const { access_log_options: options } = message;
  const place = scope.at('access_log_options');
  if (options !== undefined) refuseOtherFields(options, LOG_FIELDS, place);
  const from = options ?? message;
  const { access_log_flush_interval: interval } = from;
  return {
    logIntervalMs: interval === undefined ? 0 : durationMs(interval),
    logOnStart: options?.flush_access_log_on_start ?? false,
    logOnConnected: from.flush_access_log_on_connected ?? false,
  };
}
