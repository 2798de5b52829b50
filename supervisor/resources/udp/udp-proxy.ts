/** Resolves the filter that proxies datagrams. */
import type { Route as RouteMessage } from '../../../shared/api/generated/envoy/extensions/filters/udp/udp_proxy/v3/route.ts';
import type {
  UdpProxyConfig,
  UdpProxyConfig_SessionFilter as SessionFilter,
  UdpProxyConfig_UdpAccessLogOptions as LogOptions,
} from '../../../shared/api/generated/envoy/extensions/filters/udp/udp_proxy/v3/udp_proxy.ts';
import type { UdpSocketConfig } from '../../../shared/api/generated/envoy/config/core/v3/udp_socket_config.ts';
import type { Matcher } from '../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type { UdpFilter, UdpProxy } from '../../../shared/resources/udp-listener.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { CONNECTION_INPUTS } from '../matchers/match-inputs.ts';
import { resolveMatcherTree } from '../matchers/matcher-tree.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { resolveDnsFilter } from './dns-filter.ts';
import { resolveUdpTunneling } from './udp-tunneling.ts';

const FIELDS = knownFields<UdpProxyConfig>([
  'stat_prefix',
  'cluster',
  'matcher',
  'idle_timeout',
  'hash_policies',
  'upstream_socket_config',
  'use_per_packet_load_balancing',
  'access_log',
  'proxy_access_log',
  'access_log_options',
  'session_filters',
  'tunneling_config',
]);
const SESSION_FIELDS = knownFields<SessionFilter>(['name', 'typed_config']);
const SOCKET_FIELDS = knownFields<UdpSocketConfig>(['max_rx_datagram_size', 'prefer_gro']);
const LOG_FIELDS = knownFields<LogOptions>([
  'access_log_flush_interval',
  'flush_access_log_on_tunnel_connected',
]);
const ROUTE_FIELDS = knownFields<RouteMessage>(['cluster']);
const IDLE_TIMEOUT_MS = 60_000;
const DATAGRAM_BYTES = 1500;
/** What UDP can carry. */
const LONGEST_BYTES = 65_535;

const ROUTES = new ExtensionRegistry<string>('envoy.matching.action', 'route of datagrams', [
  extension(
    'route',
    'envoy.extensions.filters.udp.udp_proxy.v3.Route',
    (message: RouteMessage, scope) => {
      refuseOtherFields(message, ROUTE_FIELDS, scope);
      return message.cluster ?? '';
    },
  ),
]);

export const SESSION_FILTERS = new ExtensionRegistry<'http_capsule'>(
  'envoy.filters.udp.session',
  'UDP session filter',
  [
    extension(
      'envoy.filters.udp.session.http_capsule',
      'envoy.extensions.filters.udp.udp_proxy.session.http_capsule.v3.FilterConfig',
      () => 'http_capsule',
    ),
  ],
);

export const UDP_FILTERS = new ExtensionRegistry<UdpFilter>(
  'envoy.filters.udp_listener',
  'UDP listener filter',
  {
    udp_proxy: extension(
      'envoy.filters.udp_listener.udp_proxy',
      'envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig',
      resolveUdpProxy,
    ),
    dns_filter: extension(
      'envoy.filters.udp.dns_filter',
      'envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig',
      resolveDnsFilter,
    ),
  },
);

/**
 * Bytes of the longest datagram that is taken. Where the kernel joins datagrams for Envoy, which it
 * does by default for those of hosts, no length is refused.
 */
export function maxDatagramBytes(
  message: UdpSocketConfig | undefined,
  { prefersGro }: { readonly prefersGro: boolean },
  scope: Scope,
): number {
  const { prefer_gro: joins = prefersGro, max_rx_datagram_size: bytes } = message ?? {};
  if (message !== undefined) refuseOtherFields(message, SOCKET_FIELDS, scope);
  return joins ? LONGEST_BYTES : Number(bytes ?? DATAGRAM_BYTES);
}

function resolveUdpProxy(message: UdpProxyConfig, scope: Scope): UdpProxy {
  refuseOtherFields(message, FIELDS, scope);
  const {
    access_log_options: logOptions = {},
    hash_policies: [policy] = [],
    tunneling_config: tunnel,
  } = message;
  if (tunnel !== undefined && message.use_per_packet_load_balancing === true) {
    const words = 'Only one of use_per_packet_load_balancing or tunneling_config can be used.';
    scope.error('conflict', words);
  }
  refuseOtherFields(logOptions, LOG_FIELDS, scope.at('access_log_options'));
  return {
    kind: 'udp_proxy',
    statPrefix: message.stat_prefix ?? '',
    route: resolveRoute(message, scope),
    idleTimeoutMs: durationMsOr(message.idle_timeout, IDLE_TIMEOUT_MS),
    maxAnswerBytes: maxDatagramBytes(
      message.upstream_socket_config,
      { prefersGro: true },
      scope.at('upstream_socket_config'),
    ),
    ...optional('hash', policy && hashOf(policy)),
    balancesDatagrams: message.use_per_packet_load_balancing ?? false,
    accessLogs: resolveAccessLogs(message.access_log, scope.at('access_log')),
    logIntervalMs: durationMsOr(logOptions.access_log_flush_interval, 0),
    proxyAccessLogs: resolveAccessLogs(message.proxy_access_log, scope.at('proxy_access_log')),
    usesCapsules: usesCapsules(message, scope),
    ...optional(
      'tunnel',
      tunnel &&
        resolveUdpTunneling(
          tunnel,
          logOptions.flush_access_log_on_tunnel_connected ?? false,
          scope.at('tunneling_config'),
        ),
    ),
  };
}

/** One capsule around another is nothing that anybody reads. */
function usesCapsules({ session_filters: filters = [] }: UdpProxyConfig, scope: Scope): boolean {
  const place = scope.at('session_filters');
  const kinds = filters.map((filter, index) => {
    refuseOtherFields(filter, SESSION_FIELDS, place.at(index));
    return SESSION_FILTERS.resolve(filter, place.at(index));
  });
  if (kinds.length > 1) place.unsupported('more than one filter of sessions is');
  return kinds.includes('http_capsule');
}

function hashOf({ key }: { readonly key?: string }): UdpProxy['hash'] {
  return key === undefined ? { kind: 'source_ip' } : { kind: 'key', key };
}

function resolveRoute(message: UdpProxyConfig, scope: Scope): UdpProxy['route'] {
  const { matcher, cluster: name = '' } = message;
  const tree = matcher && resolveMatcher(matcher, scope.at('matcher'));
  return tree === undefined ? { kind: 'cluster', name } : { kind: 'matcher', tree };
}

function resolveMatcher(
  matcher: Matcher,
  scope: Scope,
): ReturnType<typeof resolveMatcherTree<string>> {
  const rules = {
    inputs: CONNECTION_INPUTS,
    resolveAction: (action: object, place: Scope) => ROUTES.resolve(action, place),
    checkInput: () => undefined,
  };
  return resolveMatcherTree(matcher, rules, scope);
}
