/** The configuration as `/config_dump` shows it, read from the normalised bootstrap. */
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ClusterHostsResource } from '../../shared/resources/cluster.ts';
import type { ConfigView, DumpedResource } from '../admin/admin-context.ts';
import { endpointMessage } from './endpoint-message.ts';

const types = {
  cluster: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
  listener: 'type.googleapis.com/envoy.config.listener.v3.Listener',
  routes: 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
  endpoints: 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
  secret: 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
  connectionManager:
    'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
} as const;

export interface ConfigViewOptions {
  readonly bootstrap: Bootstrap;
  /** Stands in the place of the bootstrap's own node. */
  readonly node: JsonObject;
  /** Unix milliseconds. */
  readonly loadedAtMs: number;
  /** The hosts that clusters have now. */
  hosts(): readonly ClusterHostsResource[];
  /** Components that are not ready yet, before the server is live. */
  unreadyTargets(): ReturnType<ConfigView['unreadyTargets']>;
}

/** Everything here is static: dynamic sources bring their own resources. */
export function makeConfigView(options: ConfigViewOptions): ConfigView {
  const { bootstrap, loadedAtMs } = options;
  const { node: _ownNode, ...withoutNode } = bootstrap;
  const dump = (type: string, message: object, name: string): DumpedResource => ({
    name,
    versionInfo: '',
    lastUpdatedMs: loadedAtMs,
    message: { '@type': type, ...message } as JsonObject,
  });
  const { clusters = [], listeners = [], secrets = [] } = bootstrap.static_resources ?? {};
  return {
    bootstrap: () => ({
      message: { node: options.node, ...(withoutNode as unknown as JsonObject) },
      lastUpdatedMs: loadedAtMs,
    }),
    clusters: () => ({
      versionInfo: '',
      static: clusters.map((cluster) => dump(types.cluster, cluster, cluster.name ?? '')),
      dynamicActive: [],
      dynamicWarming: [],
    }),
    listeners: () => ({
      versionInfo: '',
      static: listeners.map((listener) => dump(types.listener, listener, listener.name ?? '')),
      dynamic: [],
    }),
    routes: () => ({
      static: inlineRoutes(bootstrap).map((routes) => dump(types.routes, routes, nameOf(routes))),
      dynamic: [],
    }),
    secrets: () => ({
      static: secrets.map((secret) => dump(types.secret, secret, secret.name ?? '')),
      dynamicActive: [],
      dynamicWarming: [],
    }),
    endpoints: () => ({
      static: options.hosts().map((hosts) => ({
        name: hosts.cluster,
        versionInfo: '',
        lastUpdatedMs: loadedAtMs,
        // Made when it is printed: there may be ten thousand of them.
        get message() {
          return { '@type': types.endpoints, ...endpointMessage(hosts) };
        },
      })),
      dynamic: [],
    }),
    unreadyTargets: () => options.unreadyTargets(),
  };
}

/** Route configurations that stand inside a connection manager, in the order of the file. */
function inlineRoutes(bootstrap: Bootstrap): readonly object[] {
  const chains = (bootstrap.static_resources?.listeners ?? []).flatMap((listener) => [
    ...(listener.filter_chains ?? []),
    ...(listener.default_filter_chain === undefined ? [] : [listener.default_filter_chain]),
  ]);
  const configs = chains.flatMap(({ filters = [] }) =>
    filters.map((filter) => filter.typed_config),
  );
  return configs
    .filter((config) => config?.['@type'] === types.connectionManager)
    .map((config) => config?.['route_config'])
    .filter((routes) => typeof routes === 'object' && routes !== null);
}

function nameOf(message: object): string {
  return 'name' in message && typeof message.name === 'string' ? message.name : '';
}
