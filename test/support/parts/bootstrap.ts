/** Small bootstraps for tests, as plain objects in the API's JSON form. */
import { ADMIN } from '../programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters';

/** Routes that answer every request with `hi`. */
export const GREETING = [
  { match: { prefix: '/' }, direct_response: { status: 200, body: { inline_string: 'hi' } } },
];

export interface HttpListenerOptions {
  readonly name?: string;
  readonly statPrefix?: string;
  /** Added to the connection manager's own fields. */
  readonly hcm?: object;
  /** Added to the listener's own fields. */
  readonly listener?: object;
}

/** A listener on a free port with one virtual host for every domain and the given routes. */
export function httpListener(routes: readonly object[], options: HttpListenerOptions = {}): object {
  return {
    name: options.name ?? 'web',
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: {
              '@type': `${TYPE}.network.http_connection_manager.v3.HttpConnectionManager`,
              stat_prefix: options.statPrefix ?? 'web',
              route_config: {
                name: 'routes',
                virtual_hosts: [{ name: 'all', domains: ['*'], routes }],
              },
              http_filters: [
                {
                  name: 'envoy.filters.http.router',
                  typed_config: { '@type': `${TYPE}.http.router.v3.Router` },
                },
              ],
              ...options.hcm,
            },
          },
        ],
      },
    ],
    ...options.listener,
  };
}

/** A static cluster with one host per port. */
export function staticCluster(name: string, ports: readonly number[], fields: object = {}): object {
  return {
    name,
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: ports.map((port) => ({
            endpoint: {
              address: { socket_address: { address: '127.0.0.1', port_value: port } },
            },
          })),
        },
      ],
    },
    ...fields,
  };
}

export interface BootstrapParts {
  readonly listeners?: readonly object[];
  readonly clusters?: readonly object[];
}

export function bootstrap(parts: BootstrapParts, fields: object = {}): object {
  return {
    admin: ADMIN,
    static_resources: { listeners: parts.listeners ?? [], clusters: parts.clusters ?? [] },
    ...fields,
  };
}

/** Everything to one cluster: the common case. */
export function proxyTo(port: number, options: HttpListenerOptions = {}): object {
  return bootstrap({
    listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], options)],
    clusters: [staticCluster('up', [port])],
  });
}
