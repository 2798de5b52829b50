/**
 * Who wants what of one type of resource: by name, all that a folder holds, or all there is. Names
 * are in their canonical form here; a subscriber hears of one by the name that it uses itself.
 */
import { canonicalName, folderOf, isFolder } from '../../resolved/resource-locator.ts';
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
  /** How many of the names are folders: most often none. */
  #folders = 0;

  /** Returns the names that nobody wanted before. */
  add(subscription: Subscription): readonly string[] {
    this.#all.add(subscription);
    if (subscription.names.length === 0) this.#wildcards.add(subscription);
    return subscription.names.map(canonicalName).filter((name) => {
      const known = this.#byName.get(name);
      if (known !== undefined) {
        known.add(subscription);
        return false;
      }
      this.#byName.set(name, new Set([subscription]));
      if (isFolder(name)) this.#folders += 1;
      return true;
    });
  }

  /** Returns the names that nobody wants any more; undefined for one that was not here. */
  remove(subscription: Subscription): readonly string[] | undefined {
    if (!this.#all.delete(subscription)) return undefined;
    this.#wildcards.delete(subscription);
    return subscription.names.map(canonicalName).filter((name) => {
      const users = this.#byName.get(name);
      users?.delete(subscription);
      if (users?.size !== 0) return false;
      this.#byName.delete(name);
      if (isFolder(name)) this.#folders -= 1;
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

  /** Whether anyone wants this resource, by whatever name. */
  covers(name: string): boolean {
    return this.isWildcard || this.#namesFor(name).length > 0;
  }

  /** A subscriber to certain names hears only of answers that hold one of them. */
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
      for (const wanted of this.#namesFor(resource.name)) {
        for (const each of this.#byName.get(wanted) ?? []) {
          partFor(each).resources.push(asKnownTo(each, resource));
        }
      }
    }
    const { removed, versionInfo } = update;
    for (const name of removed === 'rest' ? [] : removed) {
      for (const wanted of this.#namesFor(name)) {
        for (const each of this.#byName.get(wanted) ?? []) {
          partFor(each).removed.push(ownNameOf(each, name));
        }
      }
    }
    const whole = [...this.#wildcards].map((subscription) => ({ subscription, update }));
    const { heartbeats = [] } = update;
    const named = [...parts].map(([subscription, part]) => ({
      subscription,
      // An answer that holds everything holds all of a folder.
      update: { versionInfo, ...part, ...(removed === 'rest' ? { removed, heartbeats } : {}) },
    }));
    return [...whole, ...named];
  }

  /** What a resource of this name is wanted as. */
  #namesFor(name: string): readonly string[] {
    const folder = this.#folders === 0 ? undefined : folderOf(name);
    const names = folder === undefined || folder === name ? [name] : [name, folder];
    return names.filter((each) => this.#byName.has(each));
  }
}

function ownNameOf({ names }: Subscription, name: string): string {
  return names.find((own) => canonicalName(own) === name) ?? name;
}

function asKnownTo(subscription: Subscription, resource: DiscoveredResource): DiscoveredResource {
  const name = ownNameOf(subscription, resource.name);
  return name === resource.name ? resource : { ...resource, name };
}
