/** What statistics say of tables of hashes before anybody asks for them: of clusters that idle. */
import type { IdleTable } from '../../../shared/resources/clusters/idle-clusters.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { HashTableFigures } from './hash-table-figures.ts';
import { evenFigures, type TableFigures } from './table-figures.ts';

export interface IdleTablesParts {
  readonly writer: StatWriter;
  /** Another worker sets the gauges where this one does not. */
  readonly tells: boolean;
}

export class IdleTables {
  readonly #parts: IdleTablesParts;
  /** By cluster. */
  readonly #shown = new Map<string, HashTableFigures>();

  constructor(parts: IdleTablesParts) {
    this.#parts = parts;
  }

  put(tables: readonly IdleTable[]): void {
    const { writer, tells } = this.#parts;
    // Most are of the same sizes.
    const known = new Map<string, TableFigures>();
    for (const table of tables) {
      const { name, statName, sizes, hosts } = table;
      const isRing = typeof sizes !== 'number';
      const shown = new HashTableFigures(
        { writer, prefix: `cluster.${statName}.` },
        { isRing, tells },
      );
      const key = JSON.stringify([sizes, hosts]);
      const figures = known.get(key) ?? evenFigures(table);
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
