/**
 * Clusters that this worker knows by name only: packed until somebody asks for one of their batch.
 */
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import {
  unpackClusters,
  type ClusterWithHosts,
} from '../../shared/resources/clusters/lazy-clusters.ts';

type Batch = { readonly packed: Uint8Array } | { readonly clusters: readonly ClusterWithHosts[] };

interface Place {
  batch: { value: Batch };
  readonly position: number;
  /** In the place of those in the batch. */
  hosts?: ClusterHostsResource;
}

export class LazyClusters {
  readonly #places = new Map<string, Place>();

  get size(): number {
    return this.#places.size;
  }

  put(names: readonly string[], packed: Uint8Array): void {
    const batch: { value: Batch } = { value: { packed } };
    names.forEach((name, position) => this.#places.set(name, { batch, position }));
  }

  /** Undefined for a name that is not here; it is not here any more afterwards. */
  take(name: string): ClusterWithHosts | undefined {
    const place = this.#places.get(name);
    if (place === undefined) return undefined;
    this.#places.delete(name);
    const { batch, position, hosts } = place;
    if ('packed' in batch.value) batch.value = { clusters: unpackClusters(batch.value.packed) };
    const found = batch.value.clusters[position];
    return found === undefined || hosts === undefined ? found : { ...found, hosts };
  }

  /** False for a cluster that is not here. It goes on idling: nothing is unpacked. */
  putHosts(hosts: ClusterHostsResource): boolean {
    const place = this.#places.get(hosts.cluster);
    if (place !== undefined) place.hosts = hosts;
    return place !== undefined;
  }

  forget(name: string): void {
    this.#places.delete(name);
  }
}
