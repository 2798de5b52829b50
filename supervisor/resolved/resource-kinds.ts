/**
 * The kinds of configuration resources, each declared once: what its resolved form is, what control
 * planes call it, whether the resource store keeps it, and how workers get it. The store, discovery,
 * dumps and the start of workers read these declarations; a kind that one of them cannot handle does
 * not compile.
 */
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import type { HttpFilter } from '../../shared/resources/filters/http-filters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { RouteConfigurationResource } from '../../shared/resources/routes/route.ts';
import type { NamedScope } from '../../shared/resources/routes/scoped-routes.ts';
import type { TlsSecret } from '../../shared/resources/tls.ts';
import type { ResolvedCluster, ResolvedListener } from './resolved-bootstrap.ts';

/** The resolved form of each kind that the store keeps. */
export interface ResolvedKinds {
  readonly cluster: ResolvedCluster;
  readonly listener: ResolvedListener;
  readonly route_configuration: RouteConfigurationResource;
  readonly scoped_routes: readonly NamedScope[];
  /** Settings of an HTTP filter that came apart. */
  readonly extension: HttpFilter;
  /** Absent for those of the bootstrap, which are taken over where they are named. */
  readonly secret: TlsSecret | undefined;
  /** Hosts that came apart from their cluster. */
  readonly endpoints: ClusterHostsResource;
}

/** Kinds that the store keeps. */
export type ResourceKind = keyof ResolvedKinds;

/** All kinds that a control plane can send: those of the last line complete other resources. */
export type DiscoveryKind = ResourceKind | 'virtual_host' | 'runtime';

/** How a kind is asked for. */
export interface ResourceType {
  readonly kind: DiscoveryKind;
  /** Full name of the message. */
  readonly message: string;
  readonly typeUrl: string;
  /** The field that holds a resource's name. */
  readonly nameField: string;
  /** The path of the REST interface. */
  readonly restPath: string;
  /** The gRPC service for this type alone; `Stream` or `Delta` stands before the last word. */
  readonly grpcService: string;
  readonly grpcNoun: string;
  /** One answer holds all resources that there are: what it leaves out is gone. */
  readonly isWholeSet: boolean;
}

/** How workers get resources of a kind that are sent as they are resolved, by their key. */
interface WorkerUpdates<Resolved> {
  readonly put: (key: string, resolved: NonNullable<Resolved>) => ResourceUpdate;
  readonly remove: (key: string) => ResourceUpdate;
  /** Those of the bootstrap travel inside what names them. */
  readonly isStaticInline?: true;
}

interface StoredDeclaration<Kind extends ResourceKind> extends ResourceType {
  readonly kind: Kind;
  readonly isStored: true;
  /** Undefined for what is sent with more than its resolved form: hosts, or sockets. */
  readonly workers: WorkerUpdates<ResolvedKinds[Kind]> | undefined;
}

interface PassingDeclaration extends ResourceType {
  readonly isStored: false;
}

type Declarations = {
  readonly [Kind in DiscoveryKind]: Kind extends ResourceKind
    ? StoredDeclaration<Kind>
    : PassingDeclaration;
};

const TYPE_URL_PREFIX = 'type.googleapis.com/';

function declare<const Declaration extends Omit<ResourceType, 'typeUrl'>>(
  declaration: Declaration,
): Declaration & Pick<ResourceType, 'typeUrl'> {
  return { ...declaration, typeUrl: TYPE_URL_PREFIX + declaration.message };
}

/** In the order in which a new worker gets them: what is named comes before what names it. */
export const RESOURCE_TYPES = {
  secret: declare({
    kind: 'secret',
    message: 'envoy.extensions.transport_sockets.tls.v3.Secret',
    nameField: 'name',
    restPath: '/v3/discovery:secrets',
    grpcService: 'envoy.service.secret.v3.SecretDiscoveryService',
    grpcNoun: 'Secrets',
    isWholeSet: false,
    isStored: true,
    workers: {
      put: (key: string, secret: TlsSecret): ResourceUpdate => ({ op: 'put_secret', key, secret }),
      remove: (key: string): ResourceUpdate => ({ op: 'remove_secret', key }),
    },
  }),
  extension: declare({
    kind: 'extension',
    message: 'envoy.config.core.v3.TypedExtensionConfig',
    nameField: 'name',
    restPath: '/v3/discovery:extension_configs',
    grpcService: 'envoy.service.extension.v3.ExtensionConfigDiscoveryService',
    grpcNoun: 'ExtensionConfigs',
    isWholeSet: false,
    isStored: true,
    workers: {
      put: (key: string, filter: HttpFilter): ResourceUpdate => ({
        op: 'put_extension',
        key,
        filter,
      }),
      remove: (key: string): ResourceUpdate => ({ op: 'remove_extension', key }),
    },
  }),
  cluster: declare({
    kind: 'cluster',
    message: 'envoy.config.cluster.v3.Cluster',
    nameField: 'name',
    restPath: '/v3/discovery:clusters',
    grpcService: 'envoy.service.cluster.v3.ClusterDiscoveryService',
    grpcNoun: 'Clusters',
    isWholeSet: true,
    isStored: true,
    workers: undefined,
  }),
  endpoints: declare({
    kind: 'endpoints',
    message: 'envoy.config.endpoint.v3.ClusterLoadAssignment',
    nameField: 'cluster_name',
    restPath: '/v3/discovery:endpoints',
    grpcService: 'envoy.service.endpoint.v3.EndpointDiscoveryService',
    grpcNoun: 'Endpoints',
    isWholeSet: false,
    isStored: true,
    workers: undefined,
  }),
  route_configuration: declare({
    kind: 'route_configuration',
    message: 'envoy.config.route.v3.RouteConfiguration',
    nameField: 'name',
    restPath: '/v3/discovery:routes',
    grpcService: 'envoy.service.route.v3.RouteDiscoveryService',
    grpcNoun: 'Routes',
    isWholeSet: false,
    isStored: true,
    workers: {
      put: (key: string, routes: RouteConfigurationResource): ResourceUpdate => ({
        op: 'put_route_configuration',
        key,
        routes,
      }),
      remove: (name: string): ResourceUpdate => ({ op: 'remove_route_configuration', name }),
      isStaticInline: true,
    },
  }),
  virtual_host: declare({
    kind: 'virtual_host',
    message: 'envoy.config.route.v3.VirtualHost',
    nameField: 'name',
    restPath: '/v3/discovery:virtual-hosts',
    grpcService: 'envoy.service.route.v3.VirtualHostDiscoveryService',
    grpcNoun: 'VirtualHosts',
    isWholeSet: false,
    isStored: false,
  }),
  scoped_routes: declare({
    kind: 'scoped_routes',
    message: 'envoy.config.route.v3.ScopedRouteConfiguration',
    nameField: 'name',
    restPath: '/v3/discovery:scoped-routes',
    grpcService: 'envoy.service.route.v3.ScopedRoutesDiscoveryService',
    grpcNoun: 'ScopedRoutes',
    isWholeSet: true,
    isStored: true,
    workers: {
      put: (key: string, scopes: readonly NamedScope[]): ResourceUpdate => ({
        op: 'put_scoped_routes',
        key,
        scopes,
      }),
      remove: (key: string): ResourceUpdate => ({ op: 'remove_scoped_routes', key }),
    },
  }),
  listener: declare({
    kind: 'listener',
    message: 'envoy.config.listener.v3.Listener',
    nameField: 'name',
    restPath: '/v3/discovery:listeners',
    grpcService: 'envoy.service.listener.v3.ListenerDiscoveryService',
    grpcNoun: 'Listeners',
    isWholeSet: true,
    isStored: true,
    workers: undefined,
  }),
  runtime: declare({
    kind: 'runtime',
    message: 'envoy.service.runtime.v3.Runtime',
    nameField: 'name',
    restPath: '/v3/discovery:runtime',
    grpcService: 'envoy.service.runtime.v3.RuntimeDiscoveryService',
    grpcNoun: 'Runtime',
    isWholeSet: false,
    isStored: false,
  }),
} satisfies Declarations;

/** The kinds that the store keeps, in the order of their declarations. */
export const STORED_KINDS: readonly ResourceKind[] = Object.values(RESOURCE_TYPES).flatMap((type) =>
  type.isStored ? [type.kind] : [],
);

export function storedType<Kind extends ResourceKind>(kind: Kind): StoredDeclaration<Kind> {
  const declarations: { readonly [Each in ResourceKind]: StoredDeclaration<Each> } = RESOURCE_TYPES;
  return declarations[kind];
}
