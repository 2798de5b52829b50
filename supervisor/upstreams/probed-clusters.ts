/**
 * Clusters of no configuration whose hosts workers check because somebody wants to know how they
 * are. No request goes to them, and no page shows them.
 */
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import type { LiveCluster } from './live-cluster.ts';

export class ProbedClusters {
  readonly #make: (resolved: ResolvedCluster) => LiveCluster;
  readonly #moved: (name: string) => void;
  readonly #clusters = new Map<string, LiveCluster>();

  /** `moved` is told of each name whose version is another now. */
  constructor(make: (resolved: ResolvedCluster) => LiveCluster, moved: (name: string) => void) {
    this.#make = make;
    this.#moved = moved;
  }

  get(name: string): LiveCluster | undefined {
    return this.#clusters.get(name);
  }

  names(): IterableIterator<string> {
    return this.#clusters.keys();
  }

  /** Its name must be one that no configured cluster has; what had it before is replaced. */
  add(resolved: ResolvedCluster): LiveCluster {
    const { name } = resolved.resource;
    this.#clusters.get(name)?.close();
    const live = this.#make(resolved);
    this.#clusters.set(name, live);
    this.#moved(name);
    return live;
  }

  remove(name: string): void {
    this.#clusters.get(name)?.close();
    if (this.#clusters.delete(name)) this.#moved(name);
  }

  close(): void {
    for (const cluster of this.#clusters.values()) cluster.close();
    this.#clusters.clear();
  }
}
