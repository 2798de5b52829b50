/** The gauges `ring_hash_lb.*` and `maglev_lb.*` of a cluster whose policy hashes. */
import { MAGLEV, RING_HASH } from '../../../shared/stats/templates/cluster-features.ts';
import type { ClusterStats } from '../cluster-stats.ts';
import type { TableStats } from './table-stats.ts';

type ClusterPrefix = Pick<ClusterStats, 'writer' | 'prefix'>;

export class HashTableStats {
  readonly #stats: ClusterPrefix;
  readonly #isRing: boolean;
  readonly #tells: boolean;
  /** The number of their block; undefined before the first table. */
  #base: number | undefined = undefined;

  /** Without `tells` the gauges are there, and another worker sets them. */
  constructor(
    stats: ClusterPrefix,
    { isRing, tells }: { readonly isRing: boolean; readonly tells: boolean },
  ) {
    this.#stats = stats;
    this.#isRing = isRing;
    this.#tells = tells;
  }

  show({ size, minPerHost, maxPerHost }: TableStats): void {
    const { writer, prefix } = this.#stats;
    this.#base ??= this.#isRing
      ? writer.defineBlock(RING_HASH, `${prefix}ring_hash_lb.`)
      : writer.defineBlock(MAGLEV, `${prefix}maglev_lb.`);
    if (!this.#tells) return;
    if (this.#isRing) {
      const { index } = RING_HASH;
      writer.setGauge(this.#base + index.size, size);
      writer.setGauge(this.#base + index.min_hashes_per_host, minPerHost);
      writer.setGauge(this.#base + index.max_hashes_per_host, maxPerHost);
    } else {
      const { index } = MAGLEV;
      writer.setGauge(this.#base + index.min_entries_per_host, minPerHost);
      writer.setGauge(this.#base + index.max_entries_per_host, maxPerHost);
    }
  }

  release(): void {
    if (this.#base !== undefined) this.#stats.writer.releaseBlock(this.#base);
  }
}
