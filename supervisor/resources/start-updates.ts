/** What a worker needs at its start before its listeners, clusters first. */
import type { ClusterHostsResource } from '../../shared/resources/cluster.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { ResourceStore } from './resource-store.ts';

/**
 * Listeners follow from whoever has bound them: only there are their addresses known. `hostsOf` says
 * which hosts a cluster has now.
 */
export function* startUpdates(
  store: ResourceStore,
  hostsOf: (cluster: string) => ClusterHostsResource,
): Generator<ResourceUpdate> {
  for (const { name, active, warming } of store.list('cluster')) {
    // Workers check the hosts of a cluster before it may be used.
    const version = active ?? warming;
    if (version === undefined) continue;
    yield { op: 'put_cluster', cluster: version.resolved.resource };
    yield { op: 'put_hosts', hosts: hostsOf(name) };
  }
  for (const { source, name, active } of store.list('route_configuration')) {
    // Static ones travel inside their listener.
    if (source === 'dynamic' && active !== undefined) {
      yield { op: 'put_route_configuration', key: name, routes: active.resolved };
    }
  }
}
