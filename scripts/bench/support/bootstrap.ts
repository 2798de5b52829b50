/** The bootstrap that Sluice and Envoy are measured with: all statistics on. */
import type { CertificateFiles } from './certificates.ts';

/** What a question adds to the plain bootstrap. */
export type Trait =
  | 'access_log'
  | 'prefix_rewrite'
  | 'short_timeouts'
  | 'no_timeout'
  | 'second_cluster'
  | 'http2_hosts'
  | 'redis';

/** Filters before the router, and what they stand on. */
export interface FilterParts {
  readonly http_filters: readonly object[];
  /** The cluster `service`. */
  readonly service?: { readonly port: number; readonly isGrpc: boolean };
  /** More fields of the connection manager. */
  readonly hcm?: object;
  /** More fields of the route's action. */
  readonly route?: object;
}

export interface BootstrapParts {
  readonly port: number;
  readonly upstreamPort: number;
  /** Serves every path but `/`, with the trait `second_cluster`. */
  readonly secondUpstreamPort?: number;
  /** The listener's certificate; absent: plain bytes. */
  readonly certificate?: CertificateFiles;
  readonly traits?: readonly Trait[];
  readonly filters?: FilterParts;
  /** Whose it is: of Sluice alone, or of Envoy. */
  readonly isSluice?: boolean;
  /** Where the access log of the trait goes. */
  readonly folder?: string;
}

/** Requests whose path begins so reach the upstream without it, with the trait `prefix_rewrite`. */
export const REWRITTEN_PREFIX = '/application/';

/** The upstream that speaks HTTP/2 listens this far beside the one of HTTP/1. */
export const HTTP2_PORT_OFFSET = 1;
/** Redis listens this far beside them. */
export const REDIS_PORT_OFFSET = 4;

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';

/** One listener, one virtual host, one cluster of one host; the same text for both. */
export function benchBootstrap(parts: BootstrapParts): object {
  return {
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'bench',
          address: address(parts.port),
          filter_chains: [{ filters: [lastFilter(parts)], ...transportSocket(parts) }],
        },
      ],
      clusters: [
        upCluster(parts),
        ...serviceCluster(parts),
        ...(parts.secondUpstreamPort === undefined
          ? []
          : [cluster('second', parts.secondUpstreamPort)]),
      ],
    },
  };
}

function lastFilter(parts: BootstrapParts): object {
  if (parts.traits?.includes('redis') !== true) return manager(parts);
  return {
    name: 'envoy.filters.network.redis_proxy',
    typed_config: {
      '@type': `${EXTENSIONS}.filters.network.redis_proxy.v3.RedisProxy`,
      stat_prefix: 'bench',
      settings: { op_timeout: '5s' },
      prefix_routes: { catch_all_route: { cluster: 'up' } },
    },
  };
}

function upCluster({ upstreamPort, traits = [] }: BootstrapParts): object {
  if (traits.includes('redis')) return cluster('up', upstreamPort + REDIS_PORT_OFFSET);
  if (!traits.includes('http2_hosts')) return cluster('up', upstreamPort);
  return http2Cluster('up', upstreamPort + HTTP2_PORT_OFFSET);
}

function serviceCluster({ filters }: BootstrapParts): readonly object[] {
  const { service } = filters ?? {};
  if (service === undefined) return [];
  const make = service.isGrpc ? http2Cluster : cluster;
  return [make('service', service.port)];
}

function http2Cluster(name: string, port: number): object {
  const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const typed = {
    '@type': `type.googleapis.com/${options}`,
    explicit_http_config: { http2_protocol_options: {} },
  };
  const http2 = { typed_extension_protocol_options: { [options]: typed } };
  return { ...cluster(name, port), ...http2 };
}

function cluster(name: string, port: number): object {
  return {
    name,
    connect_timeout: '1s',
    circuit_breakers: {
      thresholds: [
        { max_connections: 20000, max_pending_requests: 200_000, max_requests: 200_000 },
      ],
    },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
  };
}

function manager(parts: BootstrapParts): object {
  const config = {
    '@type': `${EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'bench',
    ...accessLog(parts),
    ...timeouts(parts),
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: routes(parts) }] },
    ...parts.filters?.hcm,
    http_filters: [
      ...(parts.filters?.http_filters ?? []),
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${EXTENSIONS}.filters.http.router.v3.Router` },
      },
    ],
  };
  return { name: 'envoy.filters.network.http_connection_manager', typed_config: config };
}

function routes({ traits = [], filters }: BootstrapParts): readonly object[] {
  const timeout = traits.includes('no_timeout') ? { timeout: '0s' } : {};
  const all = { match: { prefix: '/' }, route: { cluster: 'up', ...timeout, ...filters?.route } };
  if (traits.includes('second_cluster')) {
    const exact = { match: { path: '/' }, route: { cluster: 'up' } };
    return [exact, { match: { prefix: '/' }, route: { cluster: 'second' } }];
  }
  if (!traits.includes('prefix_rewrite')) return [all];
  const match = { prefix: REWRITTEN_PREFIX };
  return [{ match, route: { cluster: 'up', prefix_rewrite: '/' } }, all];
}

function accessLog({ traits = [], folder = '', port }: BootstrapParts): object {
  if (!traits.includes('access_log')) return {};
  const config = {
    '@type': `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`,
    path: `${folder}/access-${port}.log`,
  };
  return { access_log: [{ name: 'envoy.access_loggers.file', typed_config: config }] };
}

function timeouts({ traits = [] }: BootstrapParts): object {
  if (!traits.includes('short_timeouts')) return {};
  const [request_headers_timeout, stream_idle_timeout] = ['0.3s', '0.5s'];
  return { request_headers_timeout, stream_idle_timeout, delayed_close_timeout: '0.1s' };
}

function transportSocket({ certificate }: BootstrapParts): object {
  if (certificate === undefined) return {};
  const pair = {
    certificate_chain: { filename: certificate.chain },
    private_key: { filename: certificate.key },
  };
  const config = {
    '@type': `${EXTENSIONS}.transport_sockets.tls.v3.DownstreamTlsContext`,
    common_tls_context: { tls_certificates: [pair], alpn_protocols: ['h2', 'http/1.1'] },
    // wrk resumes where it gets a ticket in time: from Envoy nearly always, from OpenSSL half
    // the time. The questions are about full handshakes.
    disable_stateless_session_resumption: true,
    disable_stateful_session_resumption: true,
  };
  return { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: config } };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
