/**
 * Puts what a bootstrap configures into the resource store: the first version of every resource.
 */
import type { Cluster } from '../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { Listener } from '../../shared/api/generated/envoy/config/listener/v3/listener.ts';
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { Secret } from '../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/secret.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { RouteConfigurationResource } from '../../shared/resources/routes/route.ts';
import type { ResolvedCluster, ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import type { ResolvedKinds, ResourceKind } from '../resolved/resource-kinds.ts';
import type { ResourceStore } from './resource-store.ts';

/** Resources with the messages that they were resolved from, in the order of the file. */
export interface StaticResources {
  readonly clusters: readonly WithMessage<Cluster, ResolvedCluster>[];
  readonly listeners: readonly WithMessage<Listener, ResolvedListener>[];
  /** Route configurations that are written inside listeners. */
  readonly routes: readonly WithMessage<RouteConfiguration, RouteConfigurationResource>[];
  readonly secrets: readonly Secret[];
}

export interface WithMessage<Message, Resolved> {
  readonly message: Message;
  readonly resolved: Resolved;
}

export function storeStaticResources(
  store: ResourceStore,
  resources: StaticResources,
  lastUpdatedMs: number,
): void {
  const put = <Kind extends ResourceKind>(
    kind: Kind,
    name: string,
    message: object,
    resolved: ResolvedKinds[Kind],
  ): void => {
    const version = { message: message as JsonObject, versionInfo: '', lastUpdatedMs, resolved };
    store.putActive(kind, name, version, 'static');
  };
  for (const { message, resolved } of resources.clusters) {
    put('cluster', resolved.resource.name, message, resolved);
  }
  for (const { message, resolved } of resources.listeners) {
    put('listener', resolved.resource.name, message, resolved);
  }
  for (const [index, { message, resolved }] of resources.routes.entries()) {
    // Inline routes need no name, and several may have the same.
    put('route_configuration', `${resolved.name}#${index}`, message, resolved);
  }
  for (const message of resources.secrets) put('secret', message.name ?? '', message, undefined);
}
