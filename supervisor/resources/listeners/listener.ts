/**
 * Resolves envoy.config.listener.v3.Listener into what workers run and what the supervisor binds.
 */
import { statScope } from '../../../shared/stats/stat-scope.ts';
import { randomUUID } from 'node:crypto';
import type { Listener as ListenerMessage } from '../../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { RouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { AccessLogConfig } from '../../../shared/resources/access-loggers/access-loggers.ts';
import type {
  BoundAddress,
  FilterChain,
  ListenerResource,
} from '../../../shared/resources/listener.ts';
import { PLAIN_PROXY_PROTOCOL } from '../filters/listener/proxy-protocol.ts';
import type { ListenerFilter } from '../../../shared/resources/filters/listener-filters.ts';
import type { AddressToBind } from '../../resolved/address-to-bind.ts';
import { resolveAccessLogs } from '../access-logs/access-log.ts';
import { bindingName, printAddress } from '../../../shared/addresses/print-address.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type {
  InlineScopes,
  NamedFilter,
  NamedRoutes,
  NamedScopes,
  ResolvedListener,
} from '../../resolved/resolved-bootstrap.ts';
import { type ResolveContext, Scope } from '../scope.ts';
import { durationMsOr, optional } from '../values.ts';
import { resolveFilterChain, resolveFilterChains } from './filter-chain.ts';
import { type ListenerScope, refuseDuplicates } from './filter-chain-match.ts';
import { checkChainNames, resolveChainMatcher } from './chain-matcher.ts';
import { checkInternal } from './internal-listener.ts';
import { resolveListenerAddresses } from './listener-addresses.ts';
import { resolveListenerFilters } from './listener-filters.ts';
import { isUdpListener, resolveUdpListener } from '../udp/udp-listener.ts';
import type { NetworkFilterResolver } from './network-filters.ts';

const FIELDS = knownFields<ListenerMessage>(
  [
    'name',
    'address',
    'additional_addresses',
    'stat_prefix',
    'filter_chains',
    'default_filter_chain',
    'per_connection_buffer_limit_bytes',
    'deprecated_v1',
    'drain_type',
    'listener_filters',
    'listener_filters_timeout',
    'continue_on_listener_filters_timeout',
    'traffic_direction',
    'connection_balance_config',
    'enable_reuse_port',
    'access_log',
    'tcp_backlog_size',
    'bind_to_port',
    'transparent',
    'freebind',
    'socket_options',
    'tcp_fast_open_queue_length',
    'enable_mptcp',
    'tcp_keepalive',
    'use_original_dst',
    'ignore_global_conn_limit',
    'bypass_overload_manager',
    'udp_listener_config',
    'api_listener',
    'internal_listener',
    'filter_chain_matcher',
  ],
  [
    'metadata',
    // The older switch; enable_reuse_port decides.
    'reuse_port',
    'max_connections_to_accept_per_socket_event',
  ],
);

const LISTENER_FILTERS_TIMEOUT_MS = 15_000;
const BUFFER_LIMIT_BYTES = 1024 * 1024;

/** Undefined after a reported problem. */
export function resolveListener(
  message: ListenerMessage,
  filters: NetworkFilterResolver,
  outer: Scope,
): ResolvedListener | undefined {
  refuseOtherFields(message, FIELDS, outer);
  const namedRoutes: NamedRoutes[] = [];
  const onNamedRoutes = (routes: NamedRoutes): void => void namedRoutes.push(routes);
  const secrets: NamedSecret[] = [];
  const onNamedSecret = (secret: NamedSecret): void => void secrets.push(secret);
  const namedFilters: NamedFilter[] = [];
  const onNamedFilter = (filter: NamedFilter): void => void namedFilters.push(filter);
  const inlineRoutes: RouteConfiguration[] = [];
  const onInlineRoutes: ResolveContext['onInlineRoutes'] = (inline, resolved) => {
    inlineRoutes.push(inline);
    outer.context.onInlineRoutes?.(inline, resolved);
  };
  const namedScopes: NamedScopes[] = [];
  const onNamedScopes = (scopes: NamedScopes): void => void namedScopes.push(scopes);
  const inlineScopes: InlineScopes[] = [];
  const onInlineScopes = (scopes: InlineScopes): void => void inlineScopes.push(scopes);
  const scoped = { onInlineScopes, onNamedScopes };
  const told = { ...scoped, onInlineRoutes, onNamedRoutes, onNamedSecret, onNamedFilter };
  const scope = new Scope({ ...outer.context, ...told }, outer.place);
  if (refusesKind(message, scope)) return undefined;
  checkBalance(message, scope);
  const isInternal = message.internal_listener !== undefined;
  if (isInternal) checkInternal(message, scope);
  const addresses = isInternal ? [] : resolveListenerAddresses(message, scope);
  const [first] = addresses;
  const address = first === undefined ? (message.name ?? '') : printAddress(first.address);
  // Without an address too, for what else is to be reported.
  const resource = resolveResource(message, addresses, { listener: scope, address }, filters);
  if (first === undefined && !isInternal) return undefined;
  return {
    resource,
    // Others pass connections to it that were meant for its addresses.
    addresses: isBound(message) ? addresses : [],
    inlineRoutes,
    inlineScopes,
    namedRoutes,
    namedScopes,
    namedFilters,
    secrets,
    reusePort: message.enable_reuse_port ?? true,
    backlog: message.tcp_backlog_size,
  };
}

function resolveResource(
  message: ListenerMessage,
  addresses: readonly AddressToBind[],
  { listener: scope, address }: ListenerScope,
  filters: NetworkFilterResolver,
): ListenerResource {
  const served = isUdpListener(message)
    ? serveDatagrams(message, { listener: scope, address })
    : serveConnections(message, filters, { listener: scope, address });
  const { traffic_direction: direction, internal_listener: internal } = message;
  const isInternal = internal !== undefined;
  return {
    name: message.name ?? randomUUID(),
    statName: statScope(
      message.stat_prefix ?? (isInternal ? `envoy_internal_${address}` : address),
    ),
    addresses: addresses.map((each) => each.address),
    direction: typeof direction === 'string' ? direction : 'UNSPECIFIED',
    perConnectionBufferLimitBytes: message.per_connection_buffer_limit_bytes ?? BUFFER_LIMIT_BYTES,
    ...served,
    handsOffToOriginal: message.use_original_dst ?? false,
    drainsOnHealthCheckFailure: message.drain_type !== 'MODIFY_ONLY',
    listenerFiltersTimeoutMs: durationMsOr(
      message.listener_filters_timeout,
      LISTENER_FILTERS_TIMEOUT_MS,
    ),
    continuesAfterTimeout: message.continue_on_listener_filters_timeout ?? false,
    accessLogs: resolveConnectionLogs(message, scope.at('access_log')),
    // Its connections were counted and admitted where they came in.
    ignoreGlobalConnLimit: isInternal || (message.ignore_global_conn_limit ?? false),
    bypassesOverload: isInternal || (message.bypass_overload_manager ?? false),
    ...(isInternal ? { isInternal } : {}),
  };
}

type Served = Pick<
  ListenerResource,
  'filterChains' | 'defaultFilterChain' | 'chainMatcher' | 'listenerFilters' | 'udp'
>;

function serveDatagrams(message: ListenerMessage, scope: ListenerScope): Served {
  const udp = resolveUdpListener(message, scope.address, scope.listener);
  return { filterChains: [], listenerFilters: [], udp };
}

function serveConnections(
  message: ListenerMessage,
  filters: NetworkFilterResolver,
  scope: ListenerScope,
): Served {
  const chains = resolveChains(message, filters, scope);
  const { listener } = scope;
  const configured = resolveListenerFilters(
    message.listener_filters ?? [],
    listener.at('listener_filters'),
  );
  const own = withProxyProtocol(configured, message);
  const listenerFilters = withInspector(withOriginal(own, message), chains.filterChains);
  return { ...chains, listenerFilters };
}

/** Where a connection was sent to has to be known before it can be handed on. */
function withOriginal(
  filters: readonly ListenerFilter[],
  { use_original_dst: handsOff = false }: ListenerMessage,
): readonly ListenerFilter[] {
  const isThere = filters.some(({ kind }) => kind === 'original_dst');
  return handsOff && !isThere ? [{ kind: 'original_dst' }, ...filters] : filters;
}

/** The older way to ask for the filter; the first chain decides for all, as in Envoy. */
function withProxyProtocol(
  filters: readonly ListenerFilter[],
  { filter_chains: chains = [] }: ListenerMessage,
): readonly ListenerFilter[] {
  return chains[0]?.use_proxy_proto === true ? [...filters, PLAIN_PROXY_PROTOCOL] : filters;
}

/** Chains that ask for what TLS clients say first need the filter that reads it. */
function withInspector(
  filters: readonly ListenerFilter[],
  chains: readonly FilterChain[],
): readonly ListenerFilter[] {
  const isNeeded = chains.some(
    ({ match }) =>
      match !== undefined && (match.serverNames.length > 0 || match.transportProtocol === 'tls'),
  );
  if (!isNeeded || filters.some(({ kind }) => kind === 'tls_inspector')) return filters;
  return [...filters, { kind: 'tls_inspector' }];
}

/** Logs of a listener have a line per connection, not per request. */
function resolveConnectionLogs(
  { access_log: logs = [] }: ListenerMessage,
  scope: Scope,
): readonly AccessLogConfig[] {
  return resolveAccessLogs(logs, scope);
}

function resolveChains(
  message: ListenerMessage,
  filters: NetworkFilterResolver,
  scope: ListenerScope,
): Pick<ListenerResource, 'filterChains' | 'defaultFilterChain' | 'chainMatcher'> {
  const { filter_chains: chains = [], default_filter_chain: defaultChain } = message;
  if (chains.length === 0 && defaultChain === undefined) {
    const adding = `error adding listener '${scope.address}'`;
    scope.listener.error('conflict', `${adding}: no filter chains specified`);
  }
  const { filter_chain_matcher: matcher } = message;
  const filterChains = resolveFilterChains(chains, filters, scope);
  const chainMatcher = matcher && resolveChainMatcher(matcher, scope.listener);
  if (matcher === undefined) {
    const matches = filterChains.map(({ match }) => match);
    refuseDuplicates(chains, matches, scope);
  } else checkChainNames(filterChains, scope);
  const found = { filterChains, ...optional('chainMatcher', chainMatcher) };
  if (defaultChain === undefined) return found;
  const place = { ...scope, listener: scope.listener.at('default_filter_chain') };
  return { ...found, defaultFilterChain: resolveFilterChain(defaultChain, filters, place) };
}

function refusesKind({ api_listener: api }: ListenerMessage, scope: Scope): boolean {
  if (api === undefined) return false;
  scope.at('api_listener').unsupported('an API listener is');
  return true;
}

function checkBalance({ connection_balance_config: balance }: ListenerMessage, scope: Scope): void {
  if (balance?.exact_balance !== undefined) {
    scope
      .at('connection_balance_config', 'exact_balance')
      .warning('no_effect', 'exact_balance has no effect: the kernel balances connections');
  } else if (balance !== undefined) {
    scope.at('connection_balance_config').unsupported('this connection balance is');
  }
}

function isBound({ bind_to_port: own, deprecated_v1: older }: ListenerMessage): boolean {
  return own !== false && older?.bind_to_port !== false;
}

/** Whether two listeners could not both bind this; a port 0 is never the same. */
export function conflictKey(address: BoundAddress): string | undefined {
  if (address.kind === 'ip' && address.port === 0) return undefined;
  return bindingName(address);
}
