/** Resolves the network filter redis_proxy. */
import type {
  RedisProxy as ProxyMessage,
  RedisProxy_ConnPoolSettings as SettingsMessage,
  RedisProxy_PrefixRoutes as RoutesMessage,
  RedisProxy_PrefixRoutes_Route as RouteMessage,
  RedisProxy_PrefixRoutes_Route_RequestMirrorPolicy as MirrorMessage,
  RedisProxy_RedisFault as FaultMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/network/redis_proxy/v3/redis_proxy.ts';
import type { DataSource } from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  RedisHostSettings,
  RedisMirror,
  RedisProxy,
  RedisReadPolicy,
  RedisRoute,
  RedisRoutes,
} from '../../../../shared/resources/filters/network/redis-proxy.ts';
import { asciiLower } from '../../../../shared/text/ascii.ts';
import { checkFormat } from '../../access-logs/format.ts';
import { readDataSource } from '../../data-source.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, optional } from '../../values.ts';
import { resolveAuthzGrpcService } from '../http/ext-authz/authz-service.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<ProxyMessage>([
  'stat_prefix',
  'settings',
  'latency_in_micros',
  'prefix_routes',
  'downstream_auth_password',
  'downstream_auth_passwords',
  'downstream_auth_username',
  'faults',
  'external_auth_provider',
  'custom_commands',
  'protocol_version',
]);
const SETTINGS_FIELDS = knownFields<SettingsMessage>([
  'op_timeout',
  'enable_hashtagging',
  'enable_redirection',
  'max_buffer_size_before_flush',
  'buffer_flush_timeout',
  'max_upstream_unknown_connections',
  'enable_command_stats',
  'read_policy',
  'connection_rate_limit',
]);
const ROUTES_FIELDS = knownFields<RoutesMessage>(['routes', 'case_insensitive', 'catch_all_route']);
const ROUTE_FIELDS = knownFields<RouteMessage>([
  'prefix',
  'remove_prefix',
  'cluster',
  'request_mirror_policy',
  'key_formatter',
  'read_command_policy',
]);
const MIRROR_FIELDS = knownFields<MirrorMessage>([
  'cluster',
  'runtime_fraction',
  'exclude_read_commands',
]);
const FAULT_FIELDS = knownFields<FaultMessage>([
  'fault_type',
  'fault_enabled',
  'delay',
  'commands',
]);

const READ_POLICIES: readonly RedisReadPolicy[] = [
  'MASTER',
  'PREFER_MASTER',
  'REPLICA',
  'PREFER_REPLICA',
  'ANY',
  'LOCAL_ZONE_AFFINITY',
  'LOCAL_ZONE_AFFINITY_REPLICAS_AND_PRIMARY',
];
const FLUSH_DELAY_MS = 3;
const UNKNOWN_CONNECTIONS_MAX = 100;

export const REDIS_PROXY_FILTER = networkFilter(
  'envoy.filters.network.redis_proxy',
  'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy',
  true,
  resolveRedisProxy,
);

function resolveRedisProxy(message: ProxyMessage, scope: Scope): RedisProxy {
  refuseOtherFields(message, FIELDS, scope);
  const faults = message.faults ?? [];
  return {
    kind: 'redis_proxy',
    statPrefix: toByteString(message.stat_prefix ?? ''),
    hosts: resolveSettings(message.settings ?? {}, scope.at('settings')),
    hasMicroseconds: message.latency_in_micros ?? false,
    routes: resolveRoutes(message.prefix_routes ?? {}, scope.at('prefix_routes')),
    ...optional('auth', resolveAuth(message, scope)),
    ...optional('externalAuth', resolveExternalAuth(message, scope)),
    faults: faults.map((fault, index) => resolveFault(fault, scope.at('faults', index))),
    customCommands: (message.custom_commands ?? []).map((name) => asciiLower(toByteString(name))),
    version: message.protocol_version === 'RESP3' ? 3 : 2,
  };
}

function resolveSettings(message: SettingsMessage, scope: Scope): RedisHostSettings {
  refuseOtherFields(message, SETTINGS_FIELDS, scope);
  const followsRedirections = message.enable_redirection ?? false;
  if (followsRedirections) {
    scope
      .at('enable_redirection')
      .warning('no_effect', 'redirections to names are not followed: names are not looked up');
  }
  return {
    opTimeoutMs: durationMsOr(message.op_timeout, 0),
    usesHashTags: message.enable_hashtagging ?? false,
    followsRedirections,
    flushBytes: message.max_buffer_size_before_flush ?? 0,
    flushDelayMs: durationMsOr(message.buffer_flush_timeout, FLUSH_DELAY_MS),
    unknownConnectionsMax: message.max_upstream_unknown_connections ?? UNKNOWN_CONNECTIONS_MAX,
    hasCommandStats: message.enable_command_stats ?? false,
    readPolicy: READ_POLICIES.find((policy) => policy === message.read_policy) ?? 'MASTER',
    ...optional(
      'connectionsPerSecond',
      message.connection_rate_limit?.connection_rate_limit_per_sec,
    ),
  };
}

/** Names of clusters are not checked: they may come later, and until then commands fail. */
function resolveRoutes(message: RoutesMessage, scope: Scope): RedisRoutes {
  refuseOtherFields(message, ROUTES_FIELDS, scope);
  const { routes = [], case_insensitive: ignoresCase = false, catch_all_route: last } = message;
  if (routes.length === 0 && last === undefined) {
    scope.error('conflict', 'cannot configure a redis-proxy without any upstream');
  }
  const seen = new Set<string>();
  routes.forEach(({ prefix = '' }, index) => {
    const normal = ignoresCase ? asciiLower(prefix) : prefix;
    if (seen.has(normal)) {
      scope.at('routes', index, 'prefix').error('conflict', `prefix \`${prefix}\` already exists.`);
    }
    seen.add(normal);
  });
  return {
    byPrefix: routes.map((route, index) => resolveRoute(route, scope.at('routes', index))),
    ignoresCase,
    ...optional('catchAll', last && resolveRoute(last, scope.at('catch_all_route'))),
  };
}

function resolveRoute(message: RouteMessage, scope: Scope): RedisRoute {
  refuseOtherFields(message, ROUTE_FIELDS, scope);
  const { key_formatter: format = '' } = message;
  // The key's place is no command of formats.
  if (format !== '') checkFormat(format.replaceAll('%KEY%', ''), scope.at('key_formatter'));
  const mirrors = message.request_mirror_policy ?? [];
  return {
    prefix: toByteString(message.prefix ?? ''),
    removesPrefix: message.remove_prefix ?? false,
    cluster: message.cluster ?? '',
    ...optional('readCluster', message.read_command_policy?.cluster),
    mirrors: mirrors.map((mirror, index) =>
      resolveMirror(mirror, scope.at('request_mirror_policy', index)),
    ),
    ...optional('keyFormat', format === '' ? undefined : toByteString(format)),
  };
}

function resolveMirror(message: MirrorMessage, scope: Scope): RedisMirror {
  refuseOtherFields(message, MIRROR_FIELDS, scope);
  const { runtime_fraction: fraction } = message;
  return {
    cluster: message.cluster ?? '',
    ...optional('fraction', fraction && resolveRuntimeFraction(fraction)),
    excludesReads: message.exclude_read_commands ?? false,
  };
}

function resolveAuth(message: ProxyMessage, scope: Scope): RedisProxy['auth'] {
  const read = (source: DataSource | undefined, place: Scope): string =>
    source === undefined ? '' : (readDataSource(source, place)?.toString('latin1') ?? '');
  const username = read(message.downstream_auth_username, scope.at('downstream_auth_username'));
  const sources = message.downstream_auth_passwords ?? [];
  const passwords = [
    read(message.downstream_auth_password, scope.at('downstream_auth_password')),
    ...sources.map((source, index) => read(source, scope.at('downstream_auth_passwords', index))),
  ].filter((password) => password !== '');
  return username === '' && passwords.length === 0 ? undefined : { username, passwords };
}

function resolveExternalAuth(
  { external_auth_provider: provider }: ProxyMessage,
  scope: Scope,
): RedisProxy['externalAuth'] {
  if (provider === undefined) return undefined;
  const place = scope.at('external_auth_provider', 'grpc_service');
  const service = resolveAuthzGrpcService(provider.grpc_service ?? {}, place);
  return (
    service && {
      target: service.target,
      timeoutMs: service.timeoutMs,
      expires: provider.enable_auth_expiration ?? false,
    }
  );
}

function resolveFault(message: FaultMessage, scope: Scope): RedisProxy['faults'][number] {
  refuseOtherFields(message, FAULT_FIELDS, scope);
  return {
    isError: message.fault_type === 'ERROR',
    share: resolveRuntimeFraction(message.fault_enabled ?? {}),
    delayMs: durationMsOr(message.delay, 0),
    commands: (message.commands ?? []).map(asciiLower),
  };
}
