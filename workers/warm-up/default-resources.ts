/**
 * Resources as the API's defaults make them, for those that no configuration makes: the warm-up's,
 * and the tests', which hold what the supervisor resolves to the same values.
 */
import { DEFAULT_HTTP2_OPTIONS } from '../../shared/resources/http2-options.ts';
import type { ClusterResource, HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type {
  ClusterRouteAction,
  Route,
  RouteConfigurationResource,
  RouteMatch,
  VirtualHost,
} from '../../shared/resources/routes/route.ts';

const BUFFER_BYTES = 1024 * 1024;
const THRESHOLDS = {
  maxConnections: 1024,
  maxPendingRequests: 1024,
  maxRequests: 1024,
  maxRetries: 3,
};
export const NO_CHANGES = { add: [], remove: [] } as const;

export const CLUSTER_DEFAULTS: Omit<ClusterResource, 'name' | 'statName'> = {
  connectTimeoutMs: 1_000,
  lbPolicy: { kind: 'round_robin' },
  healthyPanicThreshold: 50,
  perConnectionBufferLimitBytes: BUFFER_BYTES,
  circuitBreakers: { DEFAULT: THRESHOLDS, HIGH: THRESHOLDS },
  tcpIdleTimeoutMs: 600_000,
  closeConnectionsOnHostHealthFailure: false,
  ignoreNewHostsUntilFirstHealthCheck: false,
  trackClusterStats: { timeoutBudgets: false, requestResponseSizes: false },
  upstreamHttp: {
    protocol: 'HTTP1',
    idleTimeoutMs: 3_600_000,
    maxStreamDurationMs: 0,
    maxResponseHeadersKb: 60,
    maxHeadersCount: 100,
  },
};

export const HOST_DEFAULTS: Omit<HostResource, 'id' | 'address'> = {
  hostname: '',
  weight: 1,
  priority: 0,
  health: 'healthy',
  region: '',
  zone: '',
  subZone: '',
  canary: false,
};

export const LISTENER_DEFAULTS: Omit<ListenerResource, 'name' | 'statName' | 'filterChains'> = {
  addresses: [],
  direction: 'UNSPECIFIED',
  perConnectionBufferLimitBytes: BUFFER_BYTES,
  listenerFilters: [],
  listenerFiltersTimeoutMs: 15_000,
  continuesAfterTimeout: false,
  accessLogs: [],
  ignoreGlobalConnLimit: false,
  bypassesOverload: false,
  handsOffToOriginal: false,
  drainsOnHealthCheckFailure: true,
};

export const MANAGER_DEFAULTS: Omit<HttpConnectionManager, 'routes' | 'statPrefix'> = {
  kind: 'http_connection_manager',
  addUserAgent: false,
  forwardsClientCert: false,
  filters: [
    {
      kind: 'router',
      name: 'envoy.filters.http.router',
      options: {
        dynamicStats: true,
        suppressEnvoyHeaders: false,
        respectExpectedRqTimeout: false,
        startChildSpan: false,
        upstreamLogs: [],
      },
    },
  ],
  accessLogs: [],
  codec: 'AUTO',
  http2: DEFAULT_HTTP2_OPTIONS,
  http1: {
    acceptHttp10: false,
    defaultHostForHttp10: '',
    allowAbsoluteUrl: true,
    enableTrailers: false,
    allowChunkedLength: false,
    headerCase: 'lower',
  },
  useRemoteAddress: false,
  skipXffAppend: false,
  xffNumTrustedHops: 0,
  generateRequestId: true,
  preserveExternalRequestId: false,
  alwaysSetRequestIdInResponse: false,
  serverName: 'envoy',
  serverHeader: 'OVERWRITE',
  via: '',
  suppressEnvoyHeaders: false,
  streamIdleTimeoutMs: 300_000,
  streamFlushTimeoutMs: 300_000,
  requestTimeoutMs: 0,
  requestHeadersTimeoutMs: 0,
  idleTimeoutMs: 3_600_000,
  maxConnectionDurationMs: 0,
  maxConnectionDurationJitter: 0,
  maxStreamDurationMs: 0,
  maxRequestsPerConnection: 0,
  delayedCloseTimeoutMs: 1_000,
  drainTimeoutMs: 5_000,
  drainTimeoutJitter: 0,
  maxRequestHeadersKb: 60,
  maxRequestHeadersCount: 100,
  normalizePath: false,
  mergeSlashes: false,
  escapedSlashes: 'KEEP_UNCHANGED',
  underscoresInHeaders: 'ALLOW',
  stripHostPort: 'none',
  stripTrailingHostDot: false,
  proxy100Continue: false,
  streamErrorOnInvalidHttpMessage: false,
  upgrades: [],
};

export const ROUTES_DEFAULTS: Omit<RouteConfigurationResource, 'name' | 'virtualHosts'> = {
  requestHeaders: NO_CHANGES,
  responseHeaders: NO_CHANGES,
  internalOnlyHeaders: [],
  mostSpecificHeaderMutationsWins: false,
  ignorePortInHostMatching: false,
  maxDirectResponseBodySizeBytes: 4096,
  typedPerFilterConfig: new Map(),
};

export const VIRTUAL_HOST_DEFAULTS: Omit<VirtualHost, 'name' | 'domains' | 'routes'> = {
  requireTls: 'NONE',
  virtualClusters: [],
  requestHeaders: NO_CHANGES,
  responseHeaders: NO_CHANGES,
  includeRequestAttemptCount: false,
  includeAttemptCountInResponse: false,
  typedPerFilterConfig: new Map(),
};

export const ROUTE_DEFAULTS: Omit<Route, 'match' | 'action'> = {
  name: '',
  requestHeaders: NO_CHANGES,
  responseHeaders: NO_CHANGES,
  typedPerFilterConfig: new Map(),
};

export const MATCH_DEFAULTS: Omit<RouteMatch, 'path'> = {
  caseSensitive: true,
  headers: [],
  queryParameters: [],
  grpcOnly: false,
};

export const CLUSTER_ROUTE_DEFAULTS: Omit<ClusterRouteAction, 'cluster'> = {
  kind: 'cluster',
  clusterNotFoundStatus: 503,
  appendXForwardedHost: false,
  timeoutMs: 15_000,
  priority: 'DEFAULT',
  hashPolicies: [],
  mirrorPolicies: [],
  upgrades: [],
  includeVirtualHostRateLimits: false,
};
