/**
 * Takes clusters from a control plane into the resource store, where they warm until their hosts
 * are known. What follows from that, hosts and workers, is the business of what follows the
 * store.
 */
import { isSubClusterName } from '../../../shared/resources/clusters/sub-cluster.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { ResourceEntry } from '../../store/resource-store.ts';
import type { ServerStats } from '../../life-cycle/server-stats.ts';
import type { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import {
  removalsOf,
  withOwnName,
  withoutDuplicates,
  type DiscoveredResource,
  type DiscoveryConsumer,
  type DiscoveryUpdate,
} from '../subscriptions/discovery-update.ts';
import type { CollectionOptions } from './discovery-options.ts';
import { isSameMessage } from './same-message.ts';

export interface ClusterDiscoveryOptions extends CollectionOptions {
  readonly stats: DiscoveryStats;
  readonly serverStats: ServerStats;
}

export class ClusterDiscovery implements DiscoveryConsumer {
  readonly #options: ClusterDiscoveryOptions;

  constructor(options: ClusterDiscoveryOptions) {
    this.#options = options;
  }

  /**
   * What is good of an update is taken, and what it leaves out removed, even when others are
   * refused. Workers hear of the clusters of each turn together.
   */
  async update(update: DiscoveryUpdate): Promise<string | undefined> {
    return await this.#options.turns.run(this.#take(update));
  }

  *#take(given: DiscoveryUpdate): Steps<string | undefined> {
    const { store, stats, clock, log } = this.#options;
    const update = { ...given, resources: given.resources.map(withOwnName) };
    const refusals: string[] = [];
    let changes = 0;
    let added = 0;
    const { first, duplicates } = withoutDuplicates(update.resources);
    for (const { name } of duplicates) {
      const reason = `${name}: duplicate cluster ${name} found`;
      log('warning', `cds: cluster '${name}' config rejected: ${reason}`);
      refusals.push(reason);
    }
    for (const resource of first) {
      const wasThere = store.get('cluster', resource.name)?.active !== undefined;
      const outcome = this.#put(resource);
      if (outcome === true && !wasThere) added++;
      if (typeof outcome === 'string') refusals.push(`${resource.name}: ${outcome}`);
      else if (outcome) changes++;
      yield;
    }
    const names = [...store.list('cluster')].map(({ name }) => name);
    const gone = new Set(removalsOf(update, names));
    const brings = ({ name, warming }: ResourceEntry<'cluster'>): boolean =>
      warming !== undefined && !gone.has(name);
    const isSwap = added > 0 || [...store.list('cluster')].some(brings);
    yield;
    const removed = yield* this.#remove([...gone], isSwap);
    log('info', `cds: ${changes} cluster(s) added or changed, ${removed} removed`);
    if (changes + removed > 0) store.setUpdateVersion('cluster', update.versionInfo);
    if (refusals.length === 0) {
      // Removals alone are no reload, as in Envoy.
      if (changes > 0) stats.reloaded(clock.wallMs());
      return undefined;
    }
    return `Error adding/updating cluster(s) ${refusals.join(', ')}`;
  }

  refused(): void {}

  settled(): void {
    this.#options.settled();
  }

  /** Whether anything changed, or why not. */
  #put({ name, message, versionInfo, fault }: DiscoveredResource): boolean | string {
    const { store, resolver, serverStats, clock, log } = this.#options;
    const known = store.get('cluster', name);
    if (known?.source === 'static') {
      log('debug', `cds: cluster '${name}' is skipped: one of the bootstrap has that name`);
      return false;
    }
    const present = known?.warming ?? known?.active;
    const isSame = present !== undefined && isSameMessage(present.message, message);
    if (isSame && fault === undefined) {
      store.forgive('cluster', name);
      return false;
    }
    // What is refused counts too, as in Envoy.
    if (present === undefined) serverStats.clusterAdded();
    else serverStats.clusterModified();
    const lastUpdatedMs = clock.wallMs();
    const { resolved, error } = fault === undefined ? resolver.cluster(message) : { error: fault };
    if (error !== undefined) {
      log('warning', `cds: cluster '${name}' config rejected: ${error}`);
      store.refuse('cluster', name, {
        details: error,
        lastAttemptMs: lastUpdatedMs,
        failedMessage: message,
      });
      return error;
    }
    store.putWarming('cluster', name, { message, versionInfo, lastUpdatedMs, resolved });
    return true;
  }

  /**
   * Returns how many went. Beside clusters that come, routes that name them are expected to change.
   */
  *#remove(names: readonly string[], isSwap: boolean): Steps<number> {
    const { store, serverStats, swap } = this.#options;
    const known = names.flatMap((name) => {
      const entry = store.get('cluster', name);
      const isOurs = entry?.source !== 'static' && !isSubClusterName(name);
      return entry !== undefined && isOurs ? [entry] : [];
    });
    const swaps = ({ active }: ResourceEntry<'cluster'>): boolean => isSwap && active !== undefined;
    yield* swap.remove(known.filter(swaps).map(({ name }) => name));
    for (const entry of known) {
      if (swaps(entry)) continue;
      if (entry.draining !== undefined) store.dropWarming('cluster', entry.name);
      else store.remove('cluster', entry.name);
      yield;
    }
    const gone = known.filter(
      ({ active, warming }) => active !== undefined || warming !== undefined,
    );
    gone.forEach(() => serverStats.clusterRemoved());
    return gone.length;
  }
}
