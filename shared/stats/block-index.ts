/**
 * Finds out whether a whole name may belong to a block: which templates have a statistic that the
 * name ends in. So a statistic that is asked for by name is never kept twice, and no name is
 * stored.
 */
import type { StatTemplate } from './template.ts';

export interface BlockPlace {
  /** The template's id, a blank and the prefix: what both stores know their blocks by. */
  readonly key: string;
  readonly offset: number;
}

export class BlockIndex {
  readonly #templates = new Set<StatTemplate>();
  /** Templates by the names of their statistics. */
  readonly #byStat = new Map<string, StatTemplate[]>();

  add(template: StatTemplate): void {
    if (this.#templates.has(template)) return;
    this.#templates.add(template);
    for (const { name } of template.stats) {
      const known = this.#byStat.get(name);
      if (known === undefined) this.#byStat.set(name, [template]);
      else known.push(template);
    }
  }

  /** Where a name would stand, for each way to split it. */
  *placesOf(name: string): Generator<BlockPlace> {
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const stat = name.slice(dot + 1);
      for (const template of this.#byStat.get(stat) ?? []) {
        const offset = template.stats.findIndex((spec) => spec.name === stat);
        yield { key: `${template.id} ${name.slice(0, dot + 1)}`, offset };
      }
    }
  }
}
