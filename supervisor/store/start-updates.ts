/** What a worker needs at its start before its listeners, clusters first. */
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import type { ClusterWithHosts } from '../../shared/resources/clusters/lazy-clusters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { LazyBatches } from './lazy-batches.ts';
import type { ResourceStore } from './resource-store.ts';

type HostsOf = (cluster: string) => ClusterHostsResource;

/**
 * Listeners follow from whoever has bound them: only there are their addresses known. `hostsOf`
 * says which hosts a cluster has now.
 */
export function* startUpdates(
  store: ResourceStore,
  hostsOf: HostsOf,
  batches: LazyBatches,
): Generator<ResourceUpdate> {
  for (const { name: key, active } of store.list('secret')) {
    const secret = active?.resolved;
    if (secret !== undefined) yield { op: 'put_secret', key, secret };
  }
  for (const { name: key, active } of store.list('extension')) {
    if (active !== undefined) yield { op: 'put_extension', key, filter: active.resolved };
  }
  yield* batches.updates(clustersOf(store, hostsOf));
  for (const { source, name, active } of store.list('route_configuration')) {
    // Static ones travel inside their listener.
    if (source === 'dynamic' && active !== undefined) {
      yield { op: 'put_route_configuration', key: name, routes: active.resolved };
    }
  }
  for (const { name: key, active } of store.list('scoped_routes')) {
    if (active !== undefined) yield { op: 'put_scoped_routes', key, scopes: active.resolved };
  }
}

function* clustersOf(store: ResourceStore, hostsOf: HostsOf): Generator<ClusterWithHosts> {
  for (const { name, active, draining } of store.list('cluster')) {
    // One that goes is used for a while.
    const resolved = (active ?? draining)?.resolved;
    if (resolved === undefined) continue;
    yield { cluster: resolved.resource, hosts: hostsOf(name) };
  }
}
