/**
 * What the data plane of a warm-up serves: the listener `front` passes every request to a cluster
 * whose only host is the listener `back`, which answers by itself. Nothing here is taken from a
 * configuration, so that no host, file or statistic of the user is touched.
 */
import { DEFAULT_HTTP2_OPTIONS } from '../../shared/resources/http2-options.ts';
import { dictionary } from '../../shared/text/dictionary.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { ClusterResource, HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { Route, RouteAction } from '../../shared/resources/routes/route.ts';

const BUFFER_BYTES = 1024 * 1024;
const THRESHOLDS = {
  maxConnections: 1024,
  maxPendingRequests: 1024,
  maxRequests: 1024,
  maxRetries: 3,
};
const NO_CHANGES = { add: [], remove: [] } as const;
/** Most of the commands of Envoy's usual line. */
const LOG_FORMAT =
  '[%START_TIME%] "%REQUEST_HEADER(:METHOD)% %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)% ' +
  '%PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQUEST_HEADER(X-FORWARDED-FOR)%" ' +
  '"%REQUEST_HEADER(USER-AGENT)%" "%REQUEST_HEADER(X-REQUEST-ID)%" ' +
  '"%REQUEST_HEADER(:AUTHORITY)%" "%UPSTREAM_HOST%"\n';
/** Lines are written, and nobody ever sees them. */
const NOWHERE = '/dev/null';

/** Of a worker that nobody knows. */
export const WARM_UP_HERITAGE: WorkerHeritage = {
  workerIndex: 0,
  concurrency: 1,
  fileFlushIntervalMs: 10_000,
  fileFlushMinSizeKb: 64,
  drainTimeS: 1,
  drainStrategy: 'immediate',
  ticketKeys: Buffer.alloc(48).toString('base64'),
  log: {
    levels: { default: 'off', components: {}, files: [] },
    format: '',
    isEscaped: false,
    isFineGrain: false,
    path: '',
    isStackSingleEntry: false,
  },
  enableCoreDump: false,
  localAddressIpVersion: 'v4',
  node: { id: '', cluster: '', zone: '', metadata: dictionary<unknown>() },
  nodeMessage: Buffer.alloc(0),
};

/** The names of both listeners. */
export const FRONT = 'front';
export const BACK = 'back';

/** `path` is where `back` listens, as connect(2) takes it. */
export function warmUpResources(path: string, body: string): readonly ResourceUpdate[] {
  const answer: RouteAction = { kind: 'direct_response', status: 200, body: Buffer.from(body) };
  return [
    { op: 'put_cluster', cluster },
    { op: 'put_hosts', hosts: { cluster: 'up', hosts: [host(path)], overprovisioningFactor: 140 } },
    { op: 'put_listener', listener: listener(BACK, answer) },
    { op: 'put_listener', listener: listener(FRONT, toCluster) },
  ];
}

const cluster: ClusterResource = {
  name: 'up',
  statName: 'up',
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

const toCluster: RouteAction = {
  kind: 'cluster',
  cluster: { kind: 'cluster', name: 'up' },
  clusterNotFoundStatus: 503,
  appendXForwardedHost: false,
  timeoutMs: 15_000,
  priority: 'DEFAULT',
  hashPolicies: [],
  mirrorPolicies: [],
  upgrades: [],
  includeVirtualHostRateLimits: false,
};

function host(path: string): HostResource {
  return {
    id: 'back',
    address: { kind: 'pipe', path },
    hostname: '',
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
  };
}

function listener(name: string, action: RouteAction): ListenerResource {
  return {
    name,
    statName: name,
    addresses: [],
    direction: 'UNSPECIFIED',
    perConnectionBufferLimitBytes: BUFFER_BYTES,
    listenerFilters: [],
    listenerFiltersTimeoutMs: 15_000,
    continuesAfterTimeout: false,
    filterChains: [{ name: '', networkFilters: [manager(name, action)] }],
    accessLogs: [],
    ignoreGlobalConnLimit: true,
    bypassesOverload: true,
    handsOffToOriginal: false,
    drainsOnHealthCheckFailure: false,
  };
}

function manager(name: string, action: RouteAction): HttpConnectionManager {
  const format = { kind: 'text', format: LOG_FORMAT, omitEmptyValues: false } as const;
  return {
    ...managerDefaults,
    statPrefix: name,
    accessLogs: [{ kind: 'lines', sink: { kind: 'file', path: NOWHERE }, format }],
    routes: {
      kind: 'inline',
      config: {
        name: 'routes',
        virtualHosts: [
          {
            name: 'all',
            domains: ['*'],
            routes: [route(action)],
            requireTls: 'NONE',
            virtualClusters: [],
            requestHeaders: NO_CHANGES,
            responseHeaders: NO_CHANGES,
            includeRequestAttemptCount: false,
            includeAttemptCountInResponse: false,
            typedPerFilterConfig: new Map(),
          },
        ],
        requestHeaders: NO_CHANGES,
        responseHeaders: NO_CHANGES,
        internalOnlyHeaders: [],
        mostSpecificHeaderMutationsWins: false,
        ignorePortInHostMatching: false,
        maxDirectResponseBodySizeBytes: 4096,
        typedPerFilterConfig: new Map(),
      },
    },
  };
}

function route(action: RouteAction): Route {
  return {
    name: '',
    action,
    requestHeaders: NO_CHANGES,
    responseHeaders: NO_CHANGES,
    typedPerFilterConfig: new Map(),
    match: {
      path: { kind: 'prefix', value: '/' },
      caseSensitive: true,
      headers: [],
      queryParameters: [],
      grpcOnly: false,
    },
  };
}

const managerDefaults: Omit<HttpConnectionManager, 'routes' | 'accessLogs' | 'statPrefix'> = {
  kind: 'http_connection_manager',
  codec: 'HTTP1',
  http2: DEFAULT_HTTP2_OPTIONS,
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
  requestTimeoutMs: 0,
  requestHeadersTimeoutMs: 0,
  idleTimeoutMs: 3_600_000,
  maxConnectionDurationMs: 0,
  maxStreamDurationMs: 0,
  maxRequestsPerConnection: 0,
  delayedCloseTimeoutMs: 1_000,
  drainTimeoutMs: 5_000,
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
