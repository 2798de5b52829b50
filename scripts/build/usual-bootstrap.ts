/** The configuration of a small server as most are: what the build compiles the code of. */

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const NOWHERE = '/dev/null';

/** What the host of HTTP/2 serves. */
export const HTTP2_PATH = '/http2';

/** One listener, `web`, with an access log, and two clusters of one host: of HTTP/1 and HTTP/2. */
export function usualBootstrap(hostPort: number, http2Port: number): object {
  return {
    node: { id: 'usual', cluster: 'usual' },
    admin: { address: address(0) },
    static_resources: {
      listeners: [
        {
          name: 'web',
          address: address(0),
          filter_chains: [{ filters: [connectionManager()] }],
        },
      ],
      clusters: [cluster('up', hostPort), { ...cluster('up2', http2Port), ...HTTP2_HOSTS }],
    },
  };
}

const HTTP2_HOSTS = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${EXTENSIONS}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function cluster(name: string, port: number): object {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '5s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
  };
}

function connectionManager(): object {
  const router = {
    name: 'envoy.filters.http.router',
    typed_config: { '@type': `${EXTENSIONS}.filters.http.router.v3.Router` },
  };
  const log = {
    name: 'envoy.access_loggers.file',
    typed_config: {
      '@type': `${EXTENSIONS}.access_loggers.file.v3.FileAccessLog`,
      path: NOWHERE,
    },
  };
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typed_config: {
      '@type': `${EXTENSIONS}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: 'web',
      access_log: [log],
      http_filters: [router],
      route_config: {
        name: 'usual',
        virtual_hosts: [
          {
            name: 'usual',
            domains: ['*'],
            routes: [
              { match: { prefix: HTTP2_PATH }, route: { cluster: 'up2', timeout: '15s' } },
              { match: { prefix: '/' }, route: { cluster: 'up', timeout: '15s' } },
            ],
          },
        ],
      },
    },
  };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
