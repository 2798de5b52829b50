/** All extensions that configuration may use, by the API's category, as the node tells others. */
import { SINKS } from './bootstrap/resolve-sinks.ts';
import { LOGGERS } from './access-logs/loggers.ts';
import { LOG_FILTERS } from './access-logs/filter.ts';
import { RESOURCE_DETECTORS } from './telemetry/resource-detectors.ts';
import { SAMPLERS } from './tracing/samplers.ts';
import { TRACERS } from './tracing/tracers.ts';
import { FORMATTERS } from './access-logs/format.ts';
import { EXTENSIONS, LISTENER_MANAGERS, REGEX_ENGINES } from './bootstrap/bootstrap-extensions.ts';
import { UPSTREAM_NETWORK_FILTERS } from './clusters/network-filters.ts';
import { CLUSTER_TYPES } from './clusters/discovery.ts';
import { HEALTH_CHECKERS } from './clusters/custom-checks.ts';
import { EVENT_SINKS } from './clusters/health-checks.ts';
import { CONNECTION_POOLS } from './clusters/cluster.ts';
import { UPSTREAM_FILTERS } from './filters/upstream-filters.ts';
import { ADDRESS_SELECTORS } from './clusters/local-sockets.ts';
import { KEY_VALUE_STORES } from './clusters/dns-cache.ts';
import { DNS_RESOLVERS } from './clusters/dns-resolver.ts';
import { MONITORS } from './bootstrap/overload-manager.ts';
import { POLICIES } from './balancing/lb-policies.ts';
import { INJECTED_CREDENTIALS } from './filters/http/auth/credential-injector.ts';
import { CONTENT_PARSERS } from './filters/http/matching/sse-to-metadata.ts';
import { THRIFT_FILTERS } from './filters/network/thrift/thrift-filters.ts';
import { GEO_PROVIDERS } from './filters/common/geo-provider.ts';
import { CLUSTER_PLUGINS } from './routes/cluster-plugins.ts';
import { COMPRESSION_LIBRARIES } from './filters/http/compressor/compression-library.ts';
import { SESSION_STATES } from './filters/http/stateful-session.ts';
import { CERTIFICATE_VALIDATORS } from './tls/spiffe.ts';
import { CUSTOM_ANSWERS } from './filters/http/matching/custom-response.ts';
import { RATE_LIMIT_DESCRIPTORS } from './routes/rate-limit-extensions.ts';
import { CACHE_STORES, CACHE_V2_STORES } from './filters/http/matching/cache-stores.ts';
import { FILTERS as HTTP_FILTERS } from './filters/http-filters.ts';
import { FORMATTERS as HEADER_FORMATTERS } from './http/http1-options.ts';
import { EARLY_MUTATIONS } from './http/early-mutations.ts';
import { IP_DETECTION } from './http/ip-detection.ts';
import { WATCHDOG_ACTIONS } from './bootstrap/watchdogs.ts';
import { CONNECTION_INPUTS, MATCH_INPUTS, VALUE_MATCHERS } from './matchers/match-inputs.ts';
import { REQUEST_ID } from './http/request-identity.ts';
import { SESSION_FILTERS, UDP_FILTERS } from './udp/udp-proxy.ts';
import { LISTENER_FILTERS } from './filters/listener-filters.ts';
import { NetworkFilterResolver } from './listeners/network-filters.ts';
import { REDIRECT_PREDICATES } from './routes/internal-redirect.ts';
import { HOST_PREDICATES, PRIORITIES } from './routes/retry-policy.ts';
import { DOWNSTREAM_SOCKETS, UPSTREAM_SOCKETS } from './transport-sockets/transport-sockets.ts';
import { RBAC_PRINCIPALS } from './filters/common/rbac-principals.ts';
import { PATH_MATCH, PATH_REWRITE } from './routes/path-templates.ts';

export interface KnownExtension {
  readonly name: string;
  readonly category: string;
  /** Full name of its configuration's message. */
  readonly type: string;
}

interface Registry {
  readonly category: string;
  entries(): readonly { readonly name: string; readonly type: string }[];
}

const registries: readonly Registry[] = [
  LOGGERS,
  TRACERS,
  SAMPLERS,
  RESOURCE_DETECTORS,
  EXTENSIONS,
  CLUSTER_TYPES,
  EVENT_SINKS,
  HEALTH_CHECKERS,
  COMPRESSION_LIBRARIES,
  CLUSTER_PLUGINS,
  CONTENT_PARSERS,
  GEO_PROVIDERS,
  THRIFT_FILTERS,
  INJECTED_CREDENTIALS,
  SESSION_STATES,
  HTTP_FILTERS,
  LISTENER_FILTERS,
  UDP_FILTERS,
  SESSION_FILTERS,
  new NetworkFilterResolver(() => true),
  FORMATTERS,
  LOG_FILTERS,
  CACHE_STORES,
  CACHE_V2_STORES,
  RATE_LIMIT_DESCRIPTORS,
  CERTIFICATE_VALIDATORS,
  CUSTOM_ANSWERS,
  HEADER_FORMATTERS,
  REDIRECT_PREDICATES,
  LISTENER_MANAGERS,
  POLICIES,
  DNS_RESOLVERS,
  KEY_VALUE_STORES,
  REGEX_ENGINES,
  PATH_MATCH,
  RBAC_PRINCIPALS,
  PATH_REWRITE,
  MONITORS,
  REQUEST_ID,
  IP_DETECTION,
  EARLY_MUTATIONS,
  MATCH_INPUTS,
  CONNECTION_INPUTS,
  WATCHDOG_ACTIONS,
  VALUE_MATCHERS,
  HOST_PREDICATES,
  PRIORITIES,
  SINKS,
  DOWNSTREAM_SOCKETS,
  UPSTREAM_SOCKETS,
  CONNECTION_POOLS,
  UPSTREAM_FILTERS,
  ADDRESS_SELECTORS,
  UPSTREAM_NETWORK_FILTERS,
];

export function knownExtensions(): readonly KnownExtension[] {
  return registries.flatMap((registry) =>
    registry.entries().map(({ name, type }) => ({ name, category: registry.category, type })),
  );
}
