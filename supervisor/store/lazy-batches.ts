/**
 * Makes the batches in which workers receive clusters that nobody uses yet. Workers that start
 * together share the packed bytes, which are let go of when memory is needed.
 */
import { packAllHosts } from '../../shared/resources/clusters/host-entries.ts';
import {
  idleTable,
  mayBeLazy,
  packClusters,
  type ClusterWithHosts,
} from '../../shared/resources/clusters/lazy-clusters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';

type LazyUpdate = Extract<ResourceUpdate, { readonly op: 'put_idle_clusters' }>;

/** Packing these takes a few milliseconds, and unpacking them when the first of them is used. */
const CLUSTERS_PER_BATCH = 100;
const HOSTS_PER_BATCH = 1000;

interface Batch {
  readonly clusters: readonly ClusterWithHosts[];
  readonly update: LazyUpdate;
}

export class LazyBatches {
  /** The batches of the worker that started last. */
  #last: WeakRef<readonly Batch[]> | undefined;

  /** Updates for all of them: those that may idle in batches, the others one by one. */
  updates(clusters: Iterable<ClusterWithHosts>): readonly ResourceUpdate[] {
    const idle: ClusterWithHosts[] = [];
    const updates: ResourceUpdate[] = [];
    for (const both of clusters) {
      if (mayBeLazy(both)) {
        idle.push(both);
        continue;
      }
      const { cluster, hosts } = both;
      const packed = { ...hosts, hosts: packAllHosts(hosts.hosts) };
      updates.push({ op: 'put_cluster', cluster }, { op: 'put_hosts', hosts: packed });
    }
    const known = this.#last?.deref() ?? [];
    const batches: Batch[] = [];
    for (let from = 0, to = 0; from < idle.length; from = to) {
      to = from + batchLength(idle, from);
      const some = idle.slice(from, to);
      const before = known[batches.length];
      batches.push(
        before !== undefined && isSame(before.clusters, some) ? before : makeBatch(some),
      );
    }
    this.#last = new WeakRef(batches);
    return [...updates, ...batches.map(({ update }) => update)];
  }
}

function batchLength(clusters: readonly ClusterWithHosts[], from: number): number {
  let [count, hosts] = [0, 0];
  while (count < CLUSTERS_PER_BATCH) {
    const next = clusters[from + count];
    if (next === undefined) break;
    hosts += next.hosts.hosts.length;
    if (count > 0 && hosts > HOSTS_PER_BATCH) break;
    count += 1;
  }
  return count;
}

function makeBatch(clusters: readonly ClusterWithHosts[]): Batch {
  let packed: Uint8Array | undefined;
  const tables = clusters.flatMap((both) => idleTable(both) ?? []);
  return {
    clusters,
    update: {
      op: 'put_idle_clusters',
      names: clusters.map(({ cluster }) => cluster.name),
      // Packed when it is sent, so that a start does not hold up the loop for all clusters at once.
      get packed() {
        return (packed ??= packClusters(clusters));
      },
      ...(tables.length === 0 ? {} : { tables }),
    },
  };
}

function isSame(before: readonly ClusterWithHosts[], now: readonly ClusterWithHosts[]): boolean {
  return (
    before.length === now.length &&
    before.every((known, position) => {
      const other = now[position];
      return (
        known.cluster === other?.cluster &&
        known.hosts.hosts === other.hosts.hosts &&
        known.hosts.hasTraffic === other.hosts.hasTraffic &&
        known.hosts.overprovisioningFactor === other.hosts.overprovisioningFactor &&
        known.hosts.dropOverload === other.hosts.dropOverload
      );
    })
  );
}
