/** The gauges of open connections of all listeners, as they come and go, for the server's total. */
import { LISTENER } from '../../shared/stats/templates/listener.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { StatStore } from '../stats/stat-store.ts';

export class ListenerGauges {
  readonly #resources: ResourceStore;
  readonly #stats: StatStore;
  #isServing = false;
  readonly #blocks = new Map<string, { readonly statName: string; readonly base: number }>();

  constructor(resources: ResourceStore, stats: StatStore) {
    this.#resources = resources;
    this.#stats = stats;
    resources.subscribe(({ kind, name }) => {
      if (kind === 'listener' && this.#isServing) this.#follow(name);
    });
  }

  /** Defines the statistics of the listeners that are there, and of those that come from now on. */
  defineAll(): void {
    this.#isServing = true;
    for (const { name } of this.#resources.list('listener')) this.#follow(name);
  }

  connections(): number {
    const offset = LISTENER.index.downstream_cx_active;
    let sum = 0;
    // Blocks that the matcher leaves out are all counted in one place.
    const bases = new Set([...this.#blocks.values()].map(({ base }) => base));
    for (const base of bases) sum += this.#stats.valueOf(base + offset);
    return sum;
  }

  #follow(name: string): void {
    const entry = this.#resources.get('listener', name);
    const known = this.#blocks.get(name);
    // One that is gone is counted as before while it drains.
    const statName =
      entry?.active === undefined && entry?.draining !== undefined
        ? known?.statName
        : entry?.active?.resolved.resource.statName;
    if (known?.statName === statName) return;
    if (statName === undefined) this.#blocks.delete(name);
    else {
      const base = this.#stats.defineBlock(LISTENER, `listener.${statName}.`);
      this.#blocks.set(name, { statName, base });
    }
    if (known !== undefined) this.#stats.releaseBlock(known.base);
  }
}
