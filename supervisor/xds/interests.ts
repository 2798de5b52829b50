/** Who wants what of one type of resource: by name, or all there is. */
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import type { Subscription } from './subscription.ts';

/** What of an answer concerns one subscription. */
export interface Delivery {
  readonly subscription: Subscription;
  readonly update: DiscoveryUpdate;
}

export class Interests {
  readonly #byName = new Map<string, Set<Subscription>>();
  readonly #wildcards = new Set<Subscription>();
  readonly #all = new Set<Subscription>();

  /** Returns the names that nobody wanted before. */
  add(subscription: Subscription): readonly string[] {
    this.#all.add(subscription);
    if (subscription.names.length === 0) this.#wildcards.add(subscription);
    return subscription.names.filter((name) => {
      const known = this.#byName.get(name);
      if (known === undefined) this.#byName.set(name, new Set([subscription]));
      else known.add(subscription);
      return known === undefined;
    });
  }

  /** Returns the names that nobody wants any more; undefined for one that was not here. */
  remove(subscription: Subscription): readonly string[] | undefined {
    if (!this.#all.delete(subscription)) return undefined;
    this.#wildcards.delete(subscription);
    return subscription.names.filter((name) => {
      const users = this.#byName.get(name);
      users?.delete(subscription);
      if (users?.size !== 0) return false;
      this.#byName.delete(name);
      return true;
    });
  }

  get all(): ReadonlySet<Subscription> {
    return this.#all;
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get isWildcard(): boolean {
    return this.#wildcards.size > 0;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Whoever wants certain names hears only of answers that hold one of them. */
  distribute(update: DiscoveryUpdate): readonly Delivery[] {
    const parts = new Map<Subscription, { resources: DiscoveredResource[]; removed: string[] }>();
    const partFor = (
      subscription: Subscription,
    ): { resources: DiscoveredResource[]; removed: string[] } => {
      let part = parts.get(subscription);
      if (part === undefined) parts.set(subscription, (part = { resources: [], removed: [] }));
      return part;
    };
    for (const resource of update.resources) {
      for (const each of this.#byName.get(resource.name) ?? [])
        partFor(each).resources.push(resource);
    }
    const { removed, versionInfo } = update;
    for (const name of removed === 'rest' ? [] : removed) {
      for (const each of this.#byName.get(name) ?? []) partFor(each).removed.push(name);
    }
    const whole = [...this.#wildcards].map((subscription) => ({ subscription, update }));
    const named = [...parts].map(([subscription, part]) => ({
      subscription,
      update: { versionInfo, ...part },
    }));
    return [...whole, ...named];
  }
}
