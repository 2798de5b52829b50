/** What statistics say of tables of hashes before anybody asks for them: of clusters that idle. */
import type { LazyTable } from '../../../shared/resources/clusters/lazy-clusters.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { HashTableStats } from './hash-table-stats.ts';
import { evenStats, type TableStats } from './table-stats.ts';

export interface LazyTablesParts {
  readonly writer: StatWriter;
  /** Another worker sets the gauges where this one does not. */
  readonly tells: boolean;
}

export class LazyTables {
  readonly #parts: LazyTablesParts;
  /** By cluster. */
  readonly #shown = new Map<string, HashTableStats>();

  constructor(parts: LazyTablesParts) {
    this.#parts = parts;
  }

  put(tables: readonly LazyTable[]): void {
    const { writer, tells } = this.#parts;
    // Most are of the same sizes.
    const known = new Map<string, TableStats>();
    for (const table of tables) {
      const { name, statName, sizes, hosts } = table;
      const isRing = typeof sizes !== 'number';
      const shown = new HashTableStats(
        { writer, prefix: `cluster.${statName}.` },
        { isRing, tells },
      );
      const key = JSON.stringify([sizes, hosts]);
      const figures = known.get(key) ?? evenStats(table);
      known.set(key, figures);
      shown.show(figures);
      this.#shown.set(name, shown);
    }
  }

  has(name: string): boolean {
    return this.#shown.has(name);
  }

  /** The cluster idles no more. */
  forget(name: string): void {
    this.#shown.get(name)?.release();
    this.#shown.delete(name);
  }
}
