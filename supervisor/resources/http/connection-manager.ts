/** Resolves the HTTP connection manager, the network filter that speaks HTTP with clients. */
import type {
  HttpConnectionManager as ManagerMessage,
  HttpConnectionManager_UpgradeConfig as UpgradeMessage,
  Rds,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { HttpConnectionManager } from '../../../shared/resources/listener.ts';
import { resolveConfigSource } from '../config-source.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { resolveRouteConfiguration } from '../routes/route-configuration.ts';
import { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveHttp1Options } from './http1-options.ts';
import { resolveHttp2Options } from './http2-options.ts';
import { resolveHttpFilters } from './http-filter-chain.ts';
import { resolveLocalReply } from './local-reply.ts';
import { resolveLogMoments } from './log-moments.ts';
import { checkProtocols } from './refused-features.ts';
import { resolveTracing } from '../tracing/tracing.ts';
import { resolveProxyStatus, serverName } from './proxy-status.ts';
import { resolveRequestId, resolveRequestIdentity } from './request-identity.ts';
import { resolveScopedRoutes } from './scoped-routes.ts';
import { resolveRequestShape } from './request-shape.ts';
import { resolveLimits } from './timeouts.ts';

const FIELDS = knownFields<ManagerMessage>(
  [
    'codec_type',
    'stat_prefix',
    'rds',
    'route_config',
    'scoped_routes',
    'http_filters',
    'tracing',
    'common_http_protocol_options',
    'http_protocol_options',
    'http2_protocol_options',
    'http3_protocol_options',
    'server_name',
    'server_header_transformation',
    'scheme_header_transformation',
    'max_request_headers_kb',
    'stream_idle_timeout',
    'request_timeout',
    'request_headers_timeout',
    'drain_timeout',
    'drain_timeout_jitter',
    'delayed_close_timeout',
    'access_log',
    'local_reply_config',
    'add_user_agent',
    'use_remote_address',
    'xff_num_trusted_hops',
    'original_ip_detection_extensions',
    'internal_address_config',
    'skip_xff_append',
    'via',
    'generate_request_id',
    'preserve_external_request_id',
    'always_set_request_id_in_response',
    'forward_client_cert_details',
    'set_current_client_cert_details',
    'proxy_100_continue',
    'upgrade_configs',
    'normalize_path',
    'merge_slashes',
    'path_with_escaped_slashes_action',
    'request_id_extension',
    'strip_matching_host_port',
    'strip_any_host_port',
    'stream_error_on_invalid_http_message',
    'strip_trailing_host_dot',
    'stream_flush_timeout',
    'early_header_mutation_extensions',
    'append_x_forwarded_port',
    'append_local_overload',
    'http1_safe_max_connection_duration',
    'access_log_options',
    'access_log_flush_interval',
    'flush_access_log_on_new_request',
    'proxy_status_config',
    'forward_proto_config',
    'record_route_resolution_stats',
  ],
  [
    'add_proxy_protocol_connection_state',
    // Envoy reads neither.
    'represent_ipv4_remote_address_as_ipv4_mapped_ipv6',
    'path_normalization_options',
  ],
);

/** Undefined after a reported problem. */
export function resolveConnectionManager(
  message: ManagerMessage,
  isKnownCluster: (name: string) => boolean,
  scope: Scope,
): HttpConnectionManager | undefined {
  refuseOtherFields(message, FIELDS, scope);
  checkProtocols(message, scope);
  const requestId = resolveRequestId(message.request_id_extension, scope);
  const tracing = resolveTracing(
    message.tracing,
    requestId,
    new Scope({ ...scope.context, isTracerCluster: isKnownCluster }, scope.at('tracing').place),
  );
  const routes = resolveRoutes(message, isKnownCluster, scope);
  const serverHeader = message.server_header_transformation;
  const http1 = message.http_protocol_options;
  const rest = {
    statPrefix: message.stat_prefix ?? '',
    filters: resolveHttpFilters(message.http_filters, scope.at('http_filters')),
    accessLogs: resolveAccessLogs(message.access_log, scope.at('access_log')),
    ...optional(
      'localReplies',
      resolveLocalReply(message.local_reply_config, scope.at('local_reply_config')),
    ),
    ...optional('logMoments', resolveLogMoments(message, scope)),
    ...optional('tracing', tracing),
    ...optional('tellsOverload', message.append_local_overload),
    ...optional('isDurationSafe', message.http1_safe_max_connection_duration),
    ...optional('proxyStatus', resolveProxyStatus(message, scope)),
    ...optional('timesRoutes', message.record_route_resolution_stats),
    codec: codecOf(message),
    http1: resolveHttp1Options(http1, scope.at('http_protocol_options')),
    http2: resolveHttp2Options(
      message.http2_protocol_options ?? {},
      scope.at('http2_protocol_options'),
      message.stream_error_on_invalid_http_message ?? false,
    ),
    ...resolveRequestIdentity(message, scope),
    serverName: serverName(message),
    serverHeader: typeof serverHeader === 'string' ? serverHeader : 'OVERWRITE',
    via: message.via ?? '',
    suppressEnvoyHeaders: false,
    ...resolveLimits(message, scope),
    ...resolveRequestShape(message, scope),
    proxy100Continue: message.proxy_100_continue ?? false,
    // The protocol's own option wins over the connection manager's.
    streamErrorOnInvalidHttpMessage:
      http1?.override_stream_error_on_invalid_http_message ??
      message.stream_error_on_invalid_http_message ??
      false,
    upgrades: resolveUpgrades(message.upgrade_configs, scope.at('upgrade_configs')),
  } as const;
  return routes === undefined ? undefined : { kind: 'http_connection_manager', routes, ...rest };
}

function codecOf({ codec_type: codec }: ManagerMessage): HttpConnectionManager['codec'] {
  return codec === 'HTTP1' || codec === 'HTTP2' ? codec : 'AUTO';
}

function resolveRoutes(
  message: ManagerMessage,
  isKnownCluster: (name: string) => boolean,
  scope: Scope,
): HttpConnectionManager['routes'] | undefined {
  if (message.route_config !== undefined) {
    const source = { validatesClusters: true, isKnownCluster };
    const place = scope.at('route_config');
    const config = resolveRouteConfiguration(message.route_config, source, place);
    scope.context.onInlineRoutes?.(message.route_config, config);
    return { kind: 'inline', config };
  }
  if (message.rds !== undefined) {
    return resolveNamedRoutes(message.rds, message.stat_prefix ?? '', scope.at('rds'));
  }
  const { scoped_routes: scoped, stat_prefix: statPrefix = '' } = message;
  return scoped && resolveScopedRoutes(scoped, statPrefix, scope.at('scoped_routes'));
}

const RDS_FIELDS = knownFields<Rds>(['config_source', 'route_config_name']);

function resolveNamedRoutes(
  message: Rds,
  statPrefix: string,
  scope: Scope,
): HttpConnectionManager['routes'] | undefined {
  refuseOtherFields(message, RDS_FIELDS, scope);
  if (message.config_source === undefined) {
    scope.error(
      'conflict',
      "An RDS config must have either a 'config_source' or an xDS-TP based 'route_config_name'. Error while parsing RDS config:",
    );
    return undefined;
  }
  const source = resolveConfigSource(message.config_source, scope.at('config_source'));
  if (source === undefined) return undefined;
  const { route_config_name: name = '' } = message;
  const key = `${name} ${JSON.stringify(source)}`;
  scope.context.onNamedRoutes?.({ key, name, source, statPrefix });
  return { kind: 'named', name: key };
}

function resolveUpgrades(
  messages: readonly UpgradeMessage[] | undefined,
  scope: Scope,
): HttpConnectionManager['upgrades'] {
  const seen = new Set<string>();
  return (messages ?? []).map((message, index) => {
    const place = scope.at(index);
    const name = message.upgrade_type ?? '';
    const type = asciiLower(name);
    if (seen.has(type)) {
      place
        .at('upgrade_type')
        .error('duplicate', `Error: multiple upgrade configs with the same name: '${name}'`);
    }
    seen.add(type);
    if ((message.filters ?? []).length > 0) {
      place.at('filters').unsupported('a filter chain of an upgrade is');
    }
    return { type, enabled: message.enabled ?? true };
  });
}
