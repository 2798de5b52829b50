/**
 * The bootstrap that the recorded cases change: one listener, one cluster. A new object each time.
 */
export function baseBootstrap(): object {
  return {
    static_resources: {
      listeners: [
        {
          name: 'l',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [
            {
              filters: [
                {
                  name: 'envoy.filters.network.http_connection_manager',
                  typed_config: connectionManager(),
                },
              ],
            },
          ],
        },
      ],
      clusters: [
        {
          name: 'c',
          load_assignment: {
            cluster_name: 'c',
            endpoints: [
              {
                lb_endpoints: [
                  {
                    endpoint: {
                      address: { socket_address: { address: '127.0.0.1', port_value: 1 } },
                    },
                  },
                ],
              },
            ],
          },
        },
      ],
    },
  };
}

function connectionManager(): object {
  return {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'x',
    route_config: {
      virtual_hosts: [
        {
          name: 'v',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'c' } }],
        },
      ],
    },
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
        },
      },
    ],
  };
}
