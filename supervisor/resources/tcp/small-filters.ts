/**
 * Resolves the network filters with a handful of fields: echo, direct_response, access, rate,
 * number.
 */
import type { RuntimeFeatureFlag } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { ConnectionLimit as ConnectionLimitMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/connection_limit/v3/connection_limit.ts';
import type { Config as DirectResponseMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/direct_response/v3/config.ts';
import type { LocalRateLimit } from '../../../shared/api/generated/envoy/extensions/filters/network/local_ratelimit/v3/local_rate_limit.ts';
import type { RBAC } from '../../../shared/api/generated/envoy/extensions/filters/network/rbac/v3/rbac.ts';
import type { Config as FilterStateMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/set_filter_state/v3/set_filter_state.ts';
import type { FilterConfig as SniForwardProxyMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy.ts';
import type { NetworkFilter } from '../../../shared/resources/listener.ts';
import type {
  ConnectionLimit,
  NetworkRateLimit,
} from '../../../shared/resources/network-filters.ts';
import { formatPlace } from '../../config/problem.ts';
import { readDataSource } from '../data-source.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveFilterStateValues } from '../filters/common/filter-state-values.ts';
import { resolveRateLimitBucket } from '../filters/http/local-rate-limit.ts';
import { resolveRbacRules } from '../filters/common/rbac-rules.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';

const TYPES = 'envoy.extensions.filters.network';

const DIRECT_RESPONSE_FIELDS = knownFields<DirectResponseMessage>(['response']);
const SNI_FORWARD_FIELDS = knownFields<SniForwardProxyMessage>(
  ['port_value', 'dns_cache_config'],
  // Kept for filters that no setting here names.
  ['save_upstream_address'],
);
const RATE_LIMIT_FIELDS = knownFields<LocalRateLimit>([
  'stat_prefix',
  'token_bucket',
  'runtime_enabled',
]);
const CONNECTION_LIMIT_FIELDS = knownFields<ConnectionLimitMessage>([
  'stat_prefix',
  'max_connections',
  'delay',
  'runtime_enabled',
]);
const FILTER_STATE_FIELDS = knownFields<FilterStateMessage>([
  'on_new_connection',
  'on_downstream_tls_handshake',
  'on_downstream_data',
]);
const RBAC_FIELDS = knownFields<RBAC>([
  'rules',
  'shadow_rules',
  'shadow_rules_stat_prefix',
  'stat_prefix',
]);

export const SMALL_NETWORK_FILTERS: readonly (ExtensionFactory<NetworkFilter> & {
  readonly isTerminal: boolean;
})[] = [
  {
    ...extension('envoy.filters.network.echo', `${TYPES}.echo.v3.Echo`, (): NetworkFilter => ({
      kind: 'echo',
    })),
    isTerminal: true,
  },
  {
    ...extension(
      'envoy.filters.network.direct_response',
      `${TYPES}.direct_response.v3.Config`,
      resolveDirectResponse,
    ),
    isTerminal: true,
  },
  {
    ...extension(
      'envoy.filters.network.sni_dynamic_forward_proxy',
      `${TYPES}.sni_dynamic_forward_proxy.v3.FilterConfig`,
      resolveSniForwardProxy,
    ),
    isTerminal: false,
  },
  {
    ...extension(
      'envoy.filters.network.sni_cluster',
      `${TYPES}.sni_cluster.v3.SniCluster`,
      (): NetworkFilter => ({ kind: 'sni_cluster' }),
    ),
    isTerminal: false,
  },
  {
    ...extension(
      'envoy.filters.network.local_ratelimit',
      `${TYPES}.local_ratelimit.v3.LocalRateLimit`,
      resolveRateLimit,
    ),
    isTerminal: false,
  },
  {
    ...extension(
      'envoy.filters.network.connection_limit',
      `${TYPES}.connection_limit.v3.ConnectionLimit`,
      resolveConnectionLimit,
    ),
    isTerminal: false,
  },
  {
    ...extension(
      'envoy.filters.network.set_filter_state',
      `${TYPES}.set_filter_state.v3.Config`,
      resolveFilterState,
    ),
    isTerminal: false,
  },
  {
    ...extension('envoy.filters.network.rbac', `${TYPES}.rbac.v3.RBAC`, resolveRbac),
    isTerminal: false,
  },
];

/** The names are looked up by the cluster of the TCP proxy behind it, see `aimAtClusters`. */
function resolveSniForwardProxy(message: SniForwardProxyMessage, scope: Scope): NetworkFilter {
  refuseOtherFields(message, SNI_FORWARD_FIELDS, scope);
  return { kind: 'sni_dynamic_forward_proxy', clusters: [], port: message.port_value ?? 0 };
}

/** Tells filters that wait for names where the last one takes connections. */
export function aimAtClusters(filters: readonly NetworkFilter[]): readonly NetworkFilter[] {
  const last = filters.at(-1);
  const clusters = last?.kind === 'tcp_proxy' ? last.clusters.map(({ name }) => name) : [];
  return filters.map((filter) =>
    filter.kind === 'sni_dynamic_forward_proxy' ? { ...filter, clusters } : filter,
  );
}

function resolveDirectResponse(message: DirectResponseMessage, scope: Scope): NetworkFilter {
  refuseOtherFields(message, DIRECT_RESPONSE_FIELDS, scope);
  const { response } = message;
  const bytes = response && readDataSource(response, scope.at('response'));
  return { kind: 'direct_response', response: bytes?.toString('latin1') ?? '' };
}

function resolveRateLimit(message: LocalRateLimit, scope: Scope): NetworkRateLimit {
  refuseOtherFields(message, RATE_LIMIT_FIELDS, scope);
  const place = scope.at('token_bucket');
  return {
    kind: 'network_local_ratelimit',
    statPrefix: message.stat_prefix ?? '',
    bucket: resolveRateLimitBucket(message.token_bucket ?? {}, place),
    enabled: flagOf(message.runtime_enabled),
  };
}

function resolveConnectionLimit(message: ConnectionLimitMessage, scope: Scope): ConnectionLimit {
  refuseOtherFields(message, CONNECTION_LIMIT_FIELDS, scope);
  if (message.max_connections === undefined) {
    scope.error('conflict', "Field 'max_connections' is missing in: the connection limit");
  }
  return {
    kind: 'connection_limit',
    statPrefix: message.stat_prefix ?? '',
    maxConnections: Number(message.max_connections ?? 0),
    delayMs: durationMsOr(message.delay, 0),
    enabled: flagOf(message.runtime_enabled),
    place: formatPlace(scope.place),
  };
}

function resolveFilterState(message: FilterStateMessage, scope: Scope): NetworkFilter {
  refuseOtherFields(message, FILTER_STATE_FIELDS, scope);
  const valuesOf = (field: keyof FilterStateMessage): ReturnType<typeof resolveFilterStateValues> =>
    resolveFilterStateValues(message[field], scope.at(field));
  return {
    kind: 'set_filter_state',
    onNewConnection: valuesOf('on_new_connection'),
    onTlsHandshake: valuesOf('on_downstream_tls_handshake'),
    onFirstBytes: valuesOf('on_downstream_data'),
  };
}

function resolveRbac(message: RBAC, scope: Scope): NetworkFilter {
  refuseOtherFields(message, RBAC_FIELDS, scope);
  const { rules, shadow_rules: shadow } = message;
  const prefix = `${dottedPrefix(message.stat_prefix ?? '')}rbac.`;
  return {
    kind: 'network_rbac',
    statPrefix: prefix,
    shadowStatPrefix: prefix + dottedPrefix(message.shadow_rules_stat_prefix ?? ''),
    ...optional('rules', rules && resolveRbacRules(rules, scope.at('rules'))),
    ...optional('shadowRules', shadow && resolveRbacRules(shadow, scope.at('shadow_rules'))),
  };
}

function flagOf(flag: RuntimeFeatureFlag | undefined): NetworkRateLimit['enabled'] {
  return { isDefault: flag?.default_value ?? true, runtimeKey: flag?.runtime_key ?? '' };
}
