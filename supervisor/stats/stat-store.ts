/**
 * Values, definitions and flags of all statistics: the supervisor's own and, added up, every worker's.
 * Shares of gauges are worker-share.ts's business, order and output the renderers'. An index
 * addresses one statistic. The indices of a block are contiguous from its base in the order of its
 * template, so that no name is stored for them. `generation` changes with every definition and
 * removal: a cache of an order of statistics compares it.
 */
import { assert } from '../../shared/process/assert.ts';
import { bucketOf } from '../../shared/stats/histogram-buckets.ts';
import { lineOf } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { StatKind, StatTemplate } from '../../shared/stats/template.ts';
import { BlockIndex } from '../../shared/stats/block-index.ts';
import { CounterLatch } from './counter-latch.ts';
import { HistogramStat } from './histogram-stat.ts';
import { RecentLookups } from './recent-lookups.ts';
import {
  COUNTER,
  FLAG,
  IN_MICROSECONDS,
  KIND_MASK,
  REJECTED,
  STAT_KINDS,
  USED,
  WRAPS,
  specFlags,
} from './stat-flags.ts';

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

export class StatStore implements StatWriter {
  generation = 0;
  readonly recentLookups = new RecentLookups();
  #values = new Float64Array(4096);
  #flags = new Uint8Array(4096);
  #size = 0;
  readonly #definitions = new Map<string, Definition>();
  readonly #byBase = new Map<number, Definition>();
  readonly #freeBases = new Map<number, number[]>();
  readonly #histograms = new Map<number, HistogramStat>();
  /**
   * Histograms with values since the last flush, and those that the last flush closed with values.
   */
  #recorded: number[] = [];
  #closed: readonly number[] = [];
  readonly #texts = new Map<number, string>();
  /** Gauges beyond 2^53, such as hashes of versions. */
  readonly #wideGauges = new Map<number, bigint>();
  readonly #blockIndex = new BlockIndex();
  readonly #accepts: NameFilter | undefined;
  /** For each reader of gains the counters' values at its last reading. */
  readonly #latches: CounterLatch[] = [];
  /** See `#placeless`. */
  readonly #dumps = new Map<StatTemplate | StatKind, Definition>();
  readonly #dumpBases = new Set<number>();
  /** What a block's flags begin with. */
  readonly #templateFlags = new Map<StatTemplate, Uint8Array>();
  /** Counters of a parent epoch that nothing here has defined so far. */
  readonly #imported = new Map<string, Definition>();

  constructor(accepts?: NameFilter) {
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
    const base = this.#takeIndices(size);
    this.#flags.set(this.#flagsOf(template), base);
    for (const offset of rejections)
      this.#flags[base + offset] = this.flagsOf(base + offset) | REJECTED;
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
    const base = this.#takeIndices(1);
    this.#flags[base] = STAT_KINDS.indexOf(kind);
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
    this.#values.fill(0, base, base + size);
    this.#flags.fill(0, base, base + size);
    for (const latch of this.#latches) latch.clear(base, size);
    for (let index = base; index < base + size; index++) {
      this.#histograms.delete(index);
      this.#texts.delete(index);
      this.#wideGauges.delete(index);
    }
    const free = this.#freeBases.get(size);
    if (free === undefined) this.#freeBases.set(size, [base]);
    else free.push(base);
    this.generation++;
  }

  increment(index: number): void {
    this.add(index, 1);
  }

  add(index: number, amount: number): void {
    this.#values[index] = (this.#values[index] as number) + amount;
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  subtract(index: number, amount: number): void {
    this.add(index, -amount);
  }

  /** For gauges that no worker writes; others change by `add` and `subtract`. */
  setGauge(index: number, value: number): void {
    this.#values[index] = value;
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  /** Sets a gauge to an unsigned 64-bit value that need not fit a number exactly. */
  setWideGauge(index: number, value: bigint): void {
    this.setGauge(index, Number(value));
    this.#wideGauges.set(index, value);
  }

  setText(index: number, value: string): void {
    this.#texts.set(index, value);
    this.#flags[index] = (this.#flags[index] as number) | USED;
  }

  setTextReadout(name: string, value: string): void {
    this.setText(this.defineTextReadout(name), value);
  }

  record(index: number, value: number): void {
    this.recordBucket(index, bucketOf(value), 1);
  }

  /** Adds `count` values of one bucket to a histogram. */
  recordBucket(index: number, bucket: number, count: number): void {
    let histogram = this.#histograms.get(index);
    if (histogram === undefined) {
      histogram = new HistogramStat();
      this.#histograms.set(index, histogram);
    }
    if (!histogram.isRecording) this.#recorded.push(index);
    histogram.add(bucket, count);
  }

  valueOf(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** A counter's or gauge's value as it is printed. */
  printedValue(index: number): string {
    const value = this.#values[index] as number;
    if (value <= 0) return this.#printedNegative(index, value);
    if (((this.#flags[index] as number) & FLAG) !== 0) return '1';
    if (value < Number.MAX_SAFE_INTEGER) return String(value);
    return (this.#wideGauges.get(index) ?? BigInt(Math.trunc(value))).toString();
  }

  /** Deltas of two workers may cross, but a gauge is never negative. */
  #printedNegative(index: number, value: number): string {
    const wraps = value < 0 && ((this.#flags[index] as number) & WRAPS) !== 0;
    return wraps ? BigInt.asUintN(64, BigInt(value)).toString() : '0';
  }

  textOf(index: number): string {
    return this.#texts.get(index) ?? '';
  }

  histogramOf(index: number): HistogramStat | undefined {
    return this.#histograms.get(index);
  }

  /** Of a histogram; one that is defined by its whole name has no unit. */
  isInMicroseconds(index: number): boolean {
    return ((this.#flags[index] as number) & IN_MICROSECONDS) !== 0;
  }

  kindOf(index: number): StatKind {
    return STAT_KINDS[(this.#flags[index] as number) & KIND_MASK] as StatKind;
  }

  /** USED, HIDDEN and REJECTED bits. */
  flagsOf(index: number): number {
    return this.#flags[index] as number;
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

  /** Number of indices in use or free; every index is below it. */
  get size(): number {
    return this.#size;
  }

  /** `/reset_counters`: what sinks are told is not affected. */
  resetCounters(definitions: Iterable<Definition> = this.definitions()): void {
    for (const { base, size, template } of definitions) {
      // What `/clusters` shows is no statistic.
      if (template?.internal === true) continue;
      for (let index = base; index < base + size; index++) {
        if (((this.#flags[index] as number) & KIND_MASK) !== COUNTER) continue;
        for (const latch of this.#latches) latch.gained(index, this.#values[index] as number, 0);
        this.#values[index] = 0;
      }
    }
  }

  /** Makes a reader of what counters gain, resets apart, from their beginning on. */
  makeLatch(): CounterLatch {
    const latch = new CounterLatch();
    this.#latches.push(latch);
    return latch;
  }

  /** Adds what all readers of gains have been told by another epoch. */
  addKnown(index: number, amount: number): void {
    this.add(index, amount);
    for (const latch of this.#latches) latch.gained(index, 0, amount);
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

  /**
   * Closes the interval of every histogram; one without values, now and the last time, is as it
   * was.
   */
  flushHistograms(): void {
    const due = new Set([...this.#closed, ...this.#recorded]);
    this.#closed = this.#recorded;
    this.#recorded = [];
    for (const index of due) {
      const histogram = this.#histograms.get(index);
      if (histogram === undefined) continue;
      histogram.flush();
      if (histogram.used) this.#flags[index] = (this.#flags[index] as number) | USED;
    }
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
      this.add(base + offset, this.valueOf(imported.base));
      for (const latch of this.#latches) latch.move(imported.base, base + offset);
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
    const base = this.#takeIndices(size);
    flags.forEach((bits, offset) => {
      this.#flags[base + offset] = bits | REJECTED;
    });
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

  #takeIndices(count: number): number {
    const free = this.#freeBases.get(count)?.pop();
    if (free !== undefined) return free;
    const base = this.#size;
    this.#size += count;
    if (this.#size > this.#values.length) {
      const capacity = Math.max(this.#size, Math.ceil(this.#values.length * 1.5));
      const values = new Float64Array(capacity);
      values.set(this.#values);
      this.#values = values;
      const flags = new Uint8Array(capacity);
      flags.set(this.#flags);
      this.#flags = flags;
    }
    return base;
  }
}
