/** The configuration of a small server as most are: what the build compiles the code of. */

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const NOWHERE = '/dev/null';

/** One listener, `web`, with an access log, one route and one cluster of one host. */
export function usualBootstrap(hostPort: number): object {
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
      clusters: [
        {
          name: 'up',
          type: 'STATIC',
          connect_timeout: '5s',
          load_assignment: {
            cluster_name: 'up',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: address(hostPort) } }] }],
          },
        },
      ],
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
            routes: [{ match: { prefix: '/' }, route: { cluster: 'up', timeout: '15s' } }],
          },
        ],
      },
    },
  };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
