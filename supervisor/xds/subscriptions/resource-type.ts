/** The types of resources that a control plane can send, and how each of them is named. */
export type DiscoveryKind =
  | 'cluster'
  | 'listener'
  | 'route_configuration'
  | 'scoped_routes'
  | 'virtual_host'
  | 'endpoints'
  | 'secret'
  | 'runtime'
  | 'extension';

export interface ResourceType {
  readonly kind: DiscoveryKind;
  /** Full name of the message. */
  readonly message: string;
  readonly typeUrl: string;
  /** The field that holds a resource's name. */
  readonly nameField: string;
  /** Of the REST interface. */
  readonly restPath: string;
  /** Of a gRPC stream for this type alone; `Stream` or `Delta` stands before the last word. */
  readonly grpcService: string;
  readonly grpcNoun: string;
  /** One answer holds all resources that there are: what it leaves out is gone. */
  readonly isWholeSet: boolean;
}

const PREFIX = 'type.googleapis.com/';

function resourceType(
  kind: DiscoveryKind,
  message: string,
  nameField: string,
  paths: Pick<ResourceType, 'restPath' | 'grpcService' | 'grpcNoun'>,
): ResourceType {
  const isWholeSet = kind === 'cluster' || kind === 'listener' || kind === 'scoped_routes';
  return { kind, message, typeUrl: PREFIX + message, nameField, isWholeSet, ...paths };
}

export const RESOURCE_TYPES: Readonly<Record<DiscoveryKind, ResourceType>> = {
  cluster: resourceType('cluster', 'envoy.config.cluster.v3.Cluster', 'name', {
    restPath: '/v3/discovery:clusters',
    grpcService: 'envoy.service.cluster.v3.ClusterDiscoveryService',
    grpcNoun: 'Clusters',
  }),
  listener: resourceType('listener', 'envoy.config.listener.v3.Listener', 'name', {
    restPath: '/v3/discovery:listeners',
    grpcService: 'envoy.service.listener.v3.ListenerDiscoveryService',
    grpcNoun: 'Listeners',
  }),
  route_configuration: resourceType(
    'route_configuration',
    'envoy.config.route.v3.RouteConfiguration',
    'name',
    {
      restPath: '/v3/discovery:routes',
      grpcService: 'envoy.service.route.v3.RouteDiscoveryService',
      grpcNoun: 'Routes',
    },
  ),
  scoped_routes: resourceType(
    'scoped_routes',
    'envoy.config.route.v3.ScopedRouteConfiguration',
    'name',
    {
      restPath: '/v3/discovery:scoped-routes',
      grpcService: 'envoy.service.route.v3.ScopedRoutesDiscoveryService',
      grpcNoun: 'ScopedRoutes',
    },
  ),
  virtual_host: resourceType('virtual_host', 'envoy.config.route.v3.VirtualHost', 'name', {
    restPath: '/v3/discovery:virtual-hosts',
    grpcService: 'envoy.service.route.v3.VirtualHostDiscoveryService',
    grpcNoun: 'VirtualHosts',
  }),
  endpoints: resourceType(
    'endpoints',
    'envoy.config.endpoint.v3.ClusterLoadAssignment',
    'cluster_name',
    {
      restPath: '/v3/discovery:endpoints',
      grpcService: 'envoy.service.endpoint.v3.EndpointDiscoveryService',
      grpcNoun: 'Endpoints',
    },
  ),
  extension: resourceType('extension', 'envoy.config.core.v3.TypedExtensionConfig', 'name', {
    restPath: '/v3/discovery:extension_configs',
    grpcService: 'envoy.service.extension.v3.ExtensionConfigDiscoveryService',
    grpcNoun: 'ExtensionConfigs',
  }),
  runtime: resourceType('runtime', 'envoy.service.runtime.v3.Runtime', 'name', {
    restPath: '/v3/discovery:runtime',
    grpcService: 'envoy.service.runtime.v3.RuntimeDiscoveryService',
    grpcNoun: 'Runtime',
  }),
  secret: resourceType('secret', 'envoy.extensions.transport_sockets.tls.v3.Secret', 'name', {
    restPath: '/v3/discovery:secrets',
    grpcService: 'envoy.service.secret.v3.SecretDiscoveryService',
    grpcNoun: 'Secrets',
  }),
};
