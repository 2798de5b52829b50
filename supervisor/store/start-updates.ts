/** What a worker needs at its start before its listeners, clusters first. */
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import type { ClusterWithHosts } from '../../shared/resources/clusters/lazy-clusters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import { STORED_KINDS, storedType, type ResourceKind } from '../resolved/resource-kinds.ts';
import type { LazyBatches } from './lazy-batches.ts';
import type { ResourceStore } from './resource-store.ts';

type HostsOf = (cluster: string) => ClusterHostsResource;

/**
 * Listeners come from what has bound them: only there are their addresses known. `hostsOf`
 * says which hosts a cluster has now.
 */
export function* startUpdates(
  store: ResourceStore,
  hostsOf: HostsOf,
  batches: LazyBatches,
): Generator<ResourceUpdate> {
  for (const kind of STORED_KINDS) {
    if (kind === 'cluster') yield* batches.updates(clustersOf(store, hostsOf));
    else yield* keyedUpdates(store, kind);
  }
}

function* keyedUpdates<Kind extends ResourceKind>(
  store: ResourceStore,
  kind: Kind,
): Generator<ResourceUpdate> {
  const { workers } = storedType(kind);
  if (workers === undefined) return;
  for (const { source, name, active } of store.list(kind)) {
    const resolved = active?.resolved;
    if (source === 'static' && workers.isStaticInline === true) continue;
    if (resolved !== undefined && resolved !== null) yield workers.put(name, resolved);
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
