/**
 * All statistics, the supervisor's own and, added up, every worker's: what is defined, where its
 * values are (stat-values.ts), and what the matcher leaves out.
 * Shares of gauges are worker-share.ts's business, order and output the renderers'. An index
 * addresses one statistic. The indices of a block are contiguous from its base in the order of its
 * template, so that no name is stored for them. `generation` changes with every definition and
 * removal: a cache of an order of statistics compares it.
 */
import { assert } from '../../shared/process/assert.ts';
import { lineOf } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { StatKind, StatTemplate } from '../../shared/stats/template.ts';
import { BlockIndex } from '../../shared/stats/block-index.ts';
import { RecentLookups } from './recent-lookups.ts';
import { REJECTED, STAT_KINDS, specFlags } from './stat-flags.ts';
import { StatValues } from './stat-values.ts';

const NONE: readonly number[] = [];

/** A block or a named statistic: everything that was defined as one. */
export interface Definition {
  readonly base: number;
  readonly size: number;
  /** Absent for a named statistic. */
  readonly template?: StatTemplate;
  /** The prefix of a block, the whole name of a named statistic. */
  readonly name: string;
  holders: number;
  /** False once removed; its indices may belong to another by then. */
  live: boolean;
}

/** Says whether the statistics matcher lets a statistic of this name exist. */
export type NameFilter = (name: string) => boolean;

export class StatStore extends StatValues implements StatWriter {
  generation = 0;
  readonly recentLookups = new RecentLookups();
  readonly #definitions = new Map<string, Definition>();
  readonly #byBase = new Map<number, Definition>();
  readonly #blockIndex = new BlockIndex();
  readonly #accepts: NameFilter | undefined;
  /** See `#placeless`. */
  readonly #dumps = new Map<StatTemplate | StatKind, Definition>();
  readonly #dumpBases = new Set<number>();
  /** What a block's flags begin with. */
  readonly #templateFlags = new Map<StatTemplate, Uint8Array>();
  /** Counters of a parent epoch that nothing here has defined so far. */
  readonly #imported = new Map<string, Definition>();

  constructor(accepts?: NameFilter) {
    super();
    this.#accepts = accepts;
  }

  defineBlock(template: StatTemplate, prefix: string): number {
    return this.hold(template, prefix).base;
  }

  releaseBlock(base: number): void {
    if (this.#dumpBases.has(base)) return;
    const definition = this.#byBase.get(base);
    assert(definition !== undefined, `no block of statistics begins at ${base}`);
    this.release(definition);
  }

  defineCounter(name: string): number {
    return this.holdNamed('counter', name).base;
  }

  defineGauge(name: string): number {
    return this.holdNamed('gauge', name).base;
  }

  defineHistogram(name: string): number {
    return this.holdNamed('histogram', name).base;
  }

  defineTextReadout(name: string): number {
    return this.holdNamed('text_readout', name).base;
  }

  setTextReadout(name: string, value: string): void {
    this.setText(this.defineTextReadout(name), value);
  }

  releaseNamed(name: string): void {
    const definition = this.findNamed(name);
    if (definition !== undefined) this.release(definition);
  }

  /** Finds or makes a block and adds a holder to it. */
  hold(template: StatTemplate, givenPrefix: string): Definition {
    const prefix = lineOf(givenPrefix);
    assert(prefix !== '', 'without a prefix the order of names could not be kept');
    this.recentLookups.note(prefix);
    const key = `${template.id} ${prefix}`;
    const known = this.#definitions.get(key);
    if (known !== undefined) {
      known.holders++;
      return known;
    }
    const rejections = this.#rejections(template, prefix);
    if (rejections === 'all') return this.#placeless(template);
    this.#blockIndex.add(template);
    const size = template.stats.length;
    const base = this.takeIndices(size);
    this.setFlags(base, this.#flagsOf(template));
    for (const offset of rejections) this.addFlags(base + offset, REJECTED);
    if (this.#imported.size > 0) this.#takeOverImported(template, prefix, base);
    return this.#remember(key, { base, size, template, name: prefix, holders: 1, live: true });
  }

  /** Finds or makes a statistic by its whole name and adds a holder to it. */
  holdNamed(kind: StatKind, givenName: string): Definition {
    const name = lineOf(givenName);
    this.recentLookups.note(name);
    // Without a space a name cannot be taken for a block's key.
    const known = this.#definitions.get(name);
    if (known !== undefined) {
      known.holders++;
      return known;
    }
    const inBlock = this.#findInBlock(name);
    if (inBlock !== undefined) return inBlock;
    if (this.#accepts?.(name) === false) return this.#placeless(kind);
    const base = this.takeIndices(1);
    this.setFlags(base, [STAT_KINDS.indexOf(kind)]);
    return this.#remember(name, { base, size: 1, name, holders: 1, live: true });
  }

  /** Takes a holder away; with the last one the statistics go. */
  release(definition: Definition): void {
    // What stands for one statistic of a block goes with the block.
    if (this.#byBase.get(definition.base) !== definition) return;
    definition.holders--;
    if (definition.holders > 0) return;
    definition.live = false;
    const { base, size, template, name } = definition;
    this.#definitions.delete(template === undefined ? name : `${template.id} ${name}`);
    this.#byBase.delete(base);
    this.freeIndices(base, size);
    this.generation++;
  }

  find(template: StatTemplate, prefix: string): Definition | undefined {
    return this.#definitions.get(`${template.id} ${lineOf(prefix)}`);
  }

  findNamed(name: string): Definition | undefined {
    return this.#definitions.get(lineOf(name));
  }

  definitions(): IterableIterator<Definition> {
    return this.#byBase.values();
  }

  /** `/reset_counters`: what sinks are told is not affected. */
  resetCounters(definitions: Iterable<Definition> = this.definitions()): void {
    for (const { base, size, template } of definitions) {
      // What `/clusters` shows is no statistic.
      if (template?.internal === true) continue;
      this.resetCountersIn(base, size);
    }
  }

  /** Finds a counter or gauge by its whole name, or defines a counter that a parent epoch had. */
  indexForImport(kind: 'counter' | 'gauge', name: string): number | undefined {
    const known = this.#definitions.get(name) ?? this.#findInBlock(name);
    if (known !== undefined) return this.kindOf(known.base) === kind ? known.base : undefined;
    if (kind === 'gauge') return undefined;
    const imported = this.holdNamed('counter', name);
    this.#imported.set(name, imported);
    return imported.base;
  }

  /** The statistic of a block that has this whole name. */
  #findInBlock(name: string): Definition | undefined {
    for (const { key, offset } of this.#blockIndex.placesOf(name)) {
      const block = this.#definitions.get(key);
      if (block === undefined) continue;
      return { base: block.base + offset, size: 1, name, holders: 1, live: true };
    }
    return undefined;
  }

  /** What was imported by name before its block was defined goes on in the block. */
  #takeOverImported(template: StatTemplate, prefix: string, base: number): void {
    template.stats.forEach((spec, offset) => {
      const imported = this.#imported.get(prefix + spec.name);
      if (imported === undefined) return;
      this.#imported.delete(prefix + spec.name);
      this.moveCounter(imported.base, base + offset);
      this.release(imported);
    });
  }

  /** Offsets of the statistics that the matcher leaves out. Internal blocks are no statistics. */
  #rejections(template: StatTemplate, prefix: string): readonly number[] | 'all' {
    const accepts = this.#accepts;
    if (accepts === undefined || template.internal === true) return NONE;
    const rejected = template.stats.flatMap(({ name }, offset) =>
      accepts(prefix + name) ? [] : [offset],
    );
    return rejected.length === template.stats.length ? 'all' : rejected;
  }

  /**
   * Where everything of a kind is counted that the matcher leaves out: one place for all of it,
   * which no page shows, so that what is left out takes no memory.
   */
  #placeless(kind: StatTemplate | StatKind): Definition {
    const known = this.#dumps.get(kind);
    if (known !== undefined) return known;
    const flags = typeof kind === 'string' ? [STAT_KINDS.indexOf(kind)] : this.#flagsOf(kind);
    const size = flags.length;
    const base = this.takeIndices(size);
    this.setFlags(base, flags);
    for (let offset = 0; offset < size; offset++) this.addFlags(base + offset, REJECTED);
    const dump: Definition = { base, size, name: '', holders: 1, live: true };
    this.#dumps.set(kind, dump);
    this.#dumpBases.add(base);
    return dump;
  }

  #flagsOf(template: StatTemplate): Uint8Array {
    let flags = this.#templateFlags.get(template);
    if (flags === undefined) {
      flags = Uint8Array.from(template.stats, specFlags);
      this.#templateFlags.set(template, flags);
    }
    return flags;
  }

  #remember(key: string, definition: Definition): Definition {
    this.#definitions.set(key, definition);
    this.#byBase.set(definition.base, definition);
    this.generation++;
    return definition;
  }
}
