/** Resolves the network filter thrift_proxy. */
import type {
  Route as RouteMessage,
  RouteAction,
  RouteConfiguration,
  RouteMatch,
} from '../../../../../shared/api/generated/envoy/extensions/filters/network/thrift_proxy/v3/route.ts';
import type { ThriftProxy as ProxyMessage } from '../../../../../shared/api/generated/envoy/extensions/filters/network/thrift_proxy/v3/thrift_proxy.ts';
import type {
  ThriftProxy,
  ThriftRoute,
  ThriftWeight,
} from '../../../../../shared/resources/filters/network/thrift-proxy.ts';
import { joined, type Struct } from '../../../../../shared/text/dictionary.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveHeaderMatchers } from '../../../matchers/header-matcher.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import { resolveMetadata } from '../../../metadata.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { ClusterReferences } from '../../../routes/cluster-references.ts';
import { type NetworkFilterFactory, networkFilter } from '../../network-filter-row.ts';
import { thriftProtocolOf, thriftTransportOf } from '../../http/matching/thrift-to-metadata.ts';
import { THRIFT_FILTERS, withColon } from './thrift-filters.ts';

const FIELDS = knownFields<ProxyMessage>([
  'transport',
  'protocol',
  'stat_prefix',
  'route_config',
  'thrift_filters',
  'payload_passthrough',
  'max_requests_per_connection',
]);
const CONFIG_FIELDS = knownFields<RouteConfiguration>(['name', 'routes', 'validate_clusters']);
const ROUTE_FIELDS = knownFields<RouteMessage>(['match', 'route']);
const MATCH_FIELDS = knownFields<RouteMatch>(['method_name', 'service_name', 'invert', 'headers']);
const ACTION_FIELDS = knownFields<RouteAction>([
  'cluster',
  'weighted_clusters',
  'cluster_header',
  'metadata_match',
  'strip_service_name',
]);

/** Routes name clusters, which have to be there where nothing else is said. */
export function thriftProxyFilter(
  isKnownCluster: (name: string) => boolean,
): NetworkFilterFactory<ThriftProxy> {
  return networkFilter(
    'envoy.filters.network.thrift_proxy',
    'envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy',
    true,
    (message: ProxyMessage, scope) => resolveThriftProxy(message, isKnownCluster, scope),
  );
}

function resolveThriftProxy(
  message: ProxyMessage,
  isKnownCluster: (name: string) => boolean,
  scope: Scope,
): ThriftProxy {
  refuseOtherFields(message, FIELDS, scope);
  const { route_config: config = {}, thrift_filters: filters = [] } = message;
  const place = scope.at('route_config');
  refuseOtherFields(config, CONFIG_FIELDS, place);
  const { validate_clusters: validates = true } = config;
  const references = new ClusterReferences(validates ? isKnownCluster : undefined);
  if (message.protocol === 'TWITTER') scope.at('protocol').unsupported("protocol 'TWITTER' is");
  return {
    kind: 'thrift_proxy',
    statPrefix: message.stat_prefix ?? '',
    transport: thriftTransportOf(message.transport),
    protocol: thriftProtocolOf(message.protocol),
    routes: (config.routes ?? []).map((route, index) => {
      const resolved = resolveRoute(route, place.at('routes', index));
      checkClusters(resolved, references, place.at('routes', index));
      return resolved;
    }),
    filters: filters.flatMap((filter, index) => {
      const resolved = THRIFT_FILTERS.resolve(filter, scope.at('thrift_filters', index));
      return resolved === undefined || resolved.kind === 'router' ? [] : [resolved];
    }),
    maxRequests: message.max_requests_per_connection ?? 0,
  };
}

function resolveRoute(message: RouteMessage, scope: Scope): ThriftRoute {
  refuseOtherFields(message, ROUTE_FIELDS, scope);
  const { match = {}, route = {} } = message;
  refuseOtherFields(match, MATCH_FIELDS, scope.at('match'));
  refuseOtherFields(route, ACTION_FIELDS, scope.at('route'));
  const { method_name: method = '', service_name: service = '', invert: inverts = false } = match;
  if (inverts && method === '' && service === '') {
    scope
      .at('match')
      .error('conflict', 'Cannot have an empty method or service name with inversion enabled');
  }
  return {
    method,
    service: withColon(service),
    inverts,
    headers: resolveHeaderMatchers(match.headers, scope.at('match', 'headers')),
    stripsService: route.strip_service_name ?? false,
    target: targetOf(route),
  };
}

function checkClusters({ target }: ThriftRoute, references: ClusterReferences, scope: Scope): void {
  if (target.kind === 'header') return;
  for (const { name } of target.clusters) {
    references.check(name, 'route: unknown thrift cluster', scope);
  }
}

function targetOf(route: RouteAction): ThriftRoute['target'] {
  const { cluster, cluster_header: header, weighted_clusters: weighted } = route;
  const common = resolveMetadata(route.metadata_match)?.['envoy.lb'];
  if (header !== undefined) {
    return { kind: 'header', name: asciiLower(header), ...optional('subset', common) };
  }
  if (weighted === undefined) {
    const only = { name: cluster ?? '', weight: 1, ...optional('subset', common) };
    return { kind: 'clusters', clusters: [only] };
  }
  const clusters = (weighted.clusters ?? []).map((each): ThriftWeight => {
    const own: Struct | undefined = resolveMetadata(each.metadata_match)?.['envoy.lb'];
    const subset = joined(common, own);
    const { name = '', weight = 0 } = each;
    return { name, weight, ...(Object.keys(subset).length === 0 ? {} : { subset }) };
  });
  return { kind: 'clusters', clusters };
}
