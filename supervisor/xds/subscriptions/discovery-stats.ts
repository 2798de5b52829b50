/**
 * What a subscription counts, below `cluster_manager.cds.` and the like, or in an EDS cluster's own
 * block.
 */
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { CLUSTER_SUBSCRIPTION } from '../../../shared/stats/templates/cluster-features.ts';
import {
  CONFIG_RELOAD,
  SUBSCRIPTION,
  UPDATE_EMPTY,
} from '../../../shared/stats/templates/subscriptions.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import { versionHash } from './version-hash.ts';

export type DiscoveryCounter =
  | 'init_fetch_timeout'
  | 'update_attempt'
  | 'update_failure'
  | 'update_rejected'
  | 'update_success';

interface Indices extends Readonly<Record<DiscoveryCounter, number>> {
  readonly update_time: number;
  readonly version: number;
  readonly version_text: number;
  readonly update_duration: number;
}

export class DiscoveryStats {
  /** Ends in a dot. */
  readonly prefix: string;
  readonly #store: StatStore;
  readonly #indices: Indices;
  readonly #blocks: readonly number[];
  readonly #reload: number | undefined;

  private constructor(
    store: StatStore,
    parts: {
      readonly prefix: string;
      readonly indices: Indices;
      readonly blocks: readonly number[];
      readonly reload?: number;
    },
  ) {
    this.#store = store;
    this.prefix = parts.prefix;
    this.#indices = parts.indices;
    this.#blocks = parts.blocks;
    this.#reload = parts.reload;
  }

  /** `scope` ends in a dot. `reloads`: changes of the configuration are counted too. */
  static at(
    store: StatStore,
    scope: string,
    kinds: { readonly reloads?: boolean; readonly countsEmpty?: boolean } = {},
  ): DiscoveryStats {
    const prefix = scopePrefix(scope);
    const base = store.defineBlock(SUBSCRIPTION, prefix);
    const blocks = [base];
    if (kinds.countsEmpty === true) blocks.push(store.defineBlock(UPDATE_EMPTY, prefix));
    const indices = shifted(SUBSCRIPTION.index, base);
    if (kinds.reloads !== true) return new DiscoveryStats(store, { prefix, indices, blocks });
    const reload = store.defineBlock(CONFIG_RELOAD, prefix);
    blocks.push(reload);
    return new DiscoveryStats(store, { prefix, indices, blocks, reload });
  }

  /** In the block of a cluster that gets its endpoints from elsewhere. */
  static ofCluster(store: StatStore, statName: string): DiscoveryStats {
    const prefix = `cluster.${statName}.`;
    const cluster = store.defineBlock(CLUSTER, prefix);
    const own = store.defineBlock(CLUSTER_SUBSCRIPTION, prefix);
    // By name: there may be ten thousand clusters, and their block has a hundred statistics.
    const { index } = CLUSTER;
    const indices = {
      ...shifted(CLUSTER_SUBSCRIPTION.index, own),
      update_attempt: cluster + index.update_attempt,
      update_failure: cluster + index.update_failure,
      update_success: cluster + index.update_success,
      version: cluster + index.version,
    };
    return new DiscoveryStats(store, { prefix, indices, blocks: [cluster, own] });
  }

  count(counter: DiscoveryCounter): void {
    this.#store.increment(this.#indices[counter]);
  }

  /** An update of this version was applied. */
  applied(versionInfo: string, wallMs: number): void {
    this.count('update_success');
    this.#store.setGauge(this.#indices.update_time, wallMs);
    this.#store.setWideGauge(this.#indices.version, versionHash(versionInfo));
    this.#store.setText(this.#indices.version_text, versionInfo);
  }

  /** How long an answer of a stream took to apply. */
  tookMs(durationMs: number): void {
    this.#store.record(this.#indices.update_duration, Math.round(durationMs));
  }

  /** The configuration is another one since this moment. */
  reloaded(wallMs: number): void {
    if (this.#reload === undefined) return;
    this.#store.increment(this.#reload + CONFIG_RELOAD.index.config_reload);
    this.#store.setGauge(this.#reload + CONFIG_RELOAD.index.config_reload_time_ms, wallMs);
  }

  release(): void {
    for (const block of this.#blocks) this.#store.releaseBlock(block);
  }
}

function shifted<Name extends string>(
  offsets: Readonly<Record<Name, number>>,
  base: number,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<number>(offsets).map(([name, offset]) => [name, base + offset]);
  return Object.fromEntries(entries) as Readonly<Record<Name, number>>;
}
