/** All extensions that configuration may use, by the API's category, as the node tells others. */
import { SINKS } from '../stats/sinks/resolve-sinks.ts';
import { LOGGERS } from './access-logs/access-log.ts';
import { FORMATTERS } from './access-logs/format.ts';
import { EXTENSIONS, LISTENER_MANAGERS, REGEX_ENGINES } from './bootstrap/bootstrap-extensions.ts';
import { CLUSTER_TYPES } from './clusters/discovery.ts';
import { DNS_RESOLVERS } from './clusters/dns-resolver.ts';
import { MONITORS } from './bootstrap/overload-manager.ts';
import { POLICIES } from './clusters/load-balancing.ts';
import { COMPRESSION_LIBRARIES } from './filters/compression-library.ts';
import { FILTERS as HTTP_FILTERS } from './http/http-filters.ts';
import { FORMATTERS as HEADER_FORMATTERS } from './http/http1-options.ts';
import { REQUEST_ID } from './http/request-identity.ts';
import { LISTENER_FILTERS } from './listeners/listener-filters.ts';
import { NetworkFilterResolver } from './listeners/network-filters.ts';
import { HOST_PREDICATES, PRIORITIES } from './routes/retry-policy.ts';
import { DOWNSTREAM_SOCKETS, UPSTREAM_SOCKETS } from './transport-sockets.ts';
import { PATH_MATCH, PATH_REWRITE } from './routes/path-templates.ts';

export interface KnownExtension {
  readonly name: string;
  readonly category: string;
  /** Full name of its configuration's message. */
  readonly type: string;
}

interface Registry {
  entries(): readonly { readonly name: string; readonly type: string }[];
}

const registries: readonly (readonly [category: string, registry: Registry])[] = [
  ['envoy.access_loggers', LOGGERS],
  ['envoy.bootstrap', EXTENSIONS],
  ['envoy.clusters', CLUSTER_TYPES],
  ['envoy.compression.compressor', COMPRESSION_LIBRARIES],
  ['envoy.filters.http', HTTP_FILTERS],
  ['envoy.filters.listener', LISTENER_FILTERS],
  ['envoy.filters.network', new NetworkFilterResolver(() => true)],
  ['envoy.formatter', FORMATTERS],
  ['envoy.http.stateful_header_formatters', HEADER_FORMATTERS],
  ['envoy.listener_manager_impl', LISTENER_MANAGERS],
  ['envoy.load_balancing_policies', POLICIES],
  ['envoy.network.dns_resolver', DNS_RESOLVERS],
  ['envoy.regex_engines', REGEX_ENGINES],
  ['envoy.path.match', PATH_MATCH],
  ['envoy.path.rewrite', PATH_REWRITE],
  ['envoy.resource_monitors', MONITORS],
  ['envoy.request_id', REQUEST_ID],
  ['envoy.retry_host_predicates', HOST_PREDICATES],
  ['envoy.retry_priorities', PRIORITIES],
  ['envoy.stats_sinks', SINKS],
  ['envoy.transport_sockets.downstream', DOWNSTREAM_SOCKETS],
  ['envoy.transport_sockets.upstream', UPSTREAM_SOCKETS],
];

export function knownExtensions(): readonly KnownExtension[] {
  return registries.flatMap(([category, registry]) =>
    registry.entries().map(({ name, type }) => ({ name, category, type })),
  );
}
