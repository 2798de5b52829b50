/** Clusters that this worker knows by name only: packed until somebody asks for one of their batch. */
import { unpackClusters, type ClusterWithHosts } from '../../shared/resources/idle-clusters.ts';

type Batch = { readonly packed: Uint8Array } | { readonly clusters: readonly ClusterWithHosts[] };

interface Place {
  batch: { value: Batch };
  readonly position: number;
}

export class IdleClusters {
  readonly #places = new Map<string, Place>();

  put(names: readonly string[], packed: Uint8Array): void {
    const batch: { value: Batch } = { value: { packed } };
    names.forEach((name, position) => this.#places.set(name, { batch, position }));
  }

  /** Undefined for a name that is not here; it is not here any more afterwards. */
  take(name: string): ClusterWithHosts | undefined {
    const place = this.#places.get(name);
    if (place === undefined) return undefined;
    this.#places.delete(name);
    const { batch, position } = place;
    if ('packed' in batch.value) batch.value = { clusters: unpackClusters(batch.value.packed) };
    return batch.value.clusters[position];
  }

  forget(name: string): void {
    this.#places.delete(name);
  }
}
