/**
 * A worker's statistics: counts into typed arrays and hands out what changed on each flush. It
 * knows no totals, no tags and no output; the supervisor adds up what the workers report.
 *
 * Indices are dense. A block takes one index per statistic of its template, a named statistic one.
 * Released indices are given out again only after the report that names them has been taken, so
 * that a report never speaks of two owners of an index.
 */
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import { assert } from '../../shared/process/assert.ts';
import { BlockIndex } from '../../shared/stats/block-index.ts';
import type { BlockDefinition, NamedDefinition, StatsReport } from '../../shared/stats/report.ts';
import type { StatKind, StatTemplate } from '../../shared/stats/template.ts';
import { ExemplarStore } from './exemplar-store.ts';
import { SparseHistogram } from './sparse-histogram.ts';
import type { WorkerStats } from './worker-stats.ts';

const FREE = 0;
const COUNTER = 1;
const GAUGE = 2;
const HISTOGRAM = 3;
const UNUSED = 4;
const KIND_MASK = 7;
/** Set while an index is on the dirty list. */
const DIRTY = 8;

const kindCodes: Readonly<Record<StatKind, number>> = {
  counter: COUNTER,
  gauge: GAUGE,
  histogram: HISTOGRAM,
  // Text readouts are the supervisor's alone; a template may name one all the same.
  text_readout: UNUSED,
};

interface Block {
  readonly template: StatTemplate;
  readonly prefix: string;
  /** Definitions without a release so far: two listeners may share one `http.<prefix>.`. */
  holders: number;
}

export class WorkerStatStore implements WorkerStats {
  readonly exemplars = new ExemplarStore();
  #values = new Float64Array(1024);
  #flags = new Uint8Array(1024);
  /** Indices that changed since the last report, and each one's value before its first change. */
  #dirty = new Uint32Array(256);
  #before = new Float64Array(256);
  #dirtyCount = 0;
  #size = 0;
  readonly #blocks = new Map<number, Block>();
  readonly #baseOf = new Map<string, number>();
  readonly #named = new Map<string, number>();
  /** Definitions by name without a release so far. */
  readonly #holders = new Map<string, number>();
  readonly #histograms = new Map<number, SparseHistogram>();
  readonly #blockIndex = new BlockIndex();
  /** Free bases by block length; see the note on reuse above. */
  readonly #freeBases = new Map<number, number[]>();
  #newBlocks: BlockDefinition[] = [];
  #newNamed: NamedDefinition[] = [];
  /** Pairs of base and length. */
  #released: number[] = [];
  readonly #releasedPrefixes = new Set<string>();
  /** Set while releases are put off. */
  #deferred: number[] | undefined;

  defineBlock(template: StatTemplate, prefix: string): number {
    const key = `${template.id} ${prefix}`;
    const known = this.#baseOf.get(key);
    if (known !== undefined) {
      const block = this.#blocks.get(known);
      if (block !== undefined) block.holders++;
      return known;
    }
    this.#blockIndex.add(template);
    const base = this.#takeIndices(template.stats.length);
    template.stats.forEach((spec, offset) => {
      this.#flags[base + offset] = kindCodes[spec.kind];
    });
    this.#baseOf.set(key, base);
    this.#blocks.set(base, { template, prefix, holders: 1 });
    this.#newBlocks.push({ base, template: template.id, prefix });
    return base;
  }

  deferReleases(action: () => void): readonly number[] {
    const deferred: number[] = [];
    this.#deferred = deferred;
    try {
      action();
    } finally {
      this.#deferred = undefined;
    }
    return deferred;
  }

  releaseBlock(base: number): void {
    if (this.#deferred !== undefined) {
      this.#deferred.push(base);
      return;
    }
    const block = this.#blocks.get(base);
    assert(block !== undefined, `no block of statistics begins at ${base}`);
    if (--block.holders > 0) return;
    this.#blocks.delete(base);
    this.#baseOf.delete(`${block.template.id} ${block.prefix}`);
    this.#released.push(base, block.template.stats.length);
    this.#releasedPrefixes.add(block.prefix);
  }

  defineCounter(name: string): number {
    return this.#holdNamed(name, 'counter');
  }

  defineGauge(name: string): number {
    return this.#holdNamed(name, 'gauge');
  }

  defineHistogram(name: string): number {
    return this.#holdNamed(name, 'histogram');
  }

  releaseNamed(name: string): void {
    const holders = (this.#holders.get(name) ?? 0) - 1;
    if (holders > 0) this.#holders.set(name, holders);
    else this.#dropNamed(name);
  }

  increment(index: number): void {
    if (((this.#flags[index] as number) & DIRTY) === 0) this.#touch(index);
    (this.#values[index] as number)++;
  }

  add(index: number, amount: number): void {
    if (((this.#flags[index] as number) & DIRTY) === 0) this.#touch(index);
    (this.#values[index] as number) += amount;
  }

  subtract(index: number, amount: number): void {
    if (((this.#flags[index] as number) & DIRTY) === 0) this.#touch(index);
    (this.#values[index] as number) -= amount;
  }

  setGauge(index: number, value: number): void {
    if (((this.#flags[index] as number) & DIRTY) === 0) this.#touch(index);
    this.#values[index] = value;
  }

  record(index: number, value: number): void {
    if (((this.#flags[index] as number) & DIRTY) === 0) this.#touch(index);
    let histogram = this.#histograms.get(index);
    if (histogram === undefined) {
      histogram = new SparseHistogram();
      this.#histograms.set(index, histogram);
    }
    histogram.record(value);
  }

  exemplify(exemplar: Exemplar): void {
    this.exemplars.note(exemplar);
  }

  valueOf(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** Everything since the last report. The caller must send it: it is not remembered here. */
  takeReport(): StatsReport {
    this.#releaseNamed();
    const deltas: number[] = [];
    const histograms: number[] = [];
    for (let position = 0; position < this.#dirtyCount; position++) {
      const index = this.#dirty[position] as number;
      const kind = (this.#flags[index] as number) & KIND_MASK;
      this.#flags[index] = kind;
      // Written after its release; its next owner has not seen it yet.
      if (kind === FREE) continue;
      if (kind === HISTOGRAM) {
        this.#histograms.get(index)?.drainInto(histograms, index);
        continue;
      }
      deltas.push(index, (this.#values[index] as number) - (this.#before[position] as number));
      if (kind === COUNTER) this.#values[index] = 0;
    }
    this.#dirtyCount = 0;
    const report: StatsReport = {
      blocks: this.#newBlocks,
      named: this.#newNamed,
      released: this.#released.filter((_, position) => position % 2 === 0),
      deltas,
      histograms,
    };
    this.#freeReleased();
    this.#newBlocks = [];
    this.#newNamed = [];
    return report;
  }

  #touch(index: number): void {
    assert(index >= 0 && index < this.#size, `no statistic has the index ${index}`);
    if (this.#dirtyCount === this.#dirty.length) {
      this.#dirty = grown(this.#dirty, Uint32Array, this.#dirty.length * 2);
      this.#before = grown(this.#before, Float64Array, this.#before.length * 2);
    }
    this.#dirty[this.#dirtyCount] = index;
    this.#before[this.#dirtyCount] = this.#values[index] as number;
    this.#dirtyCount++;
    this.#flags[index] = (this.#flags[index] as number) | DIRTY;
  }

  #holdNamed(name: string, kind: NamedDefinition['kind']): number {
    this.#holders.set(name, (this.#holders.get(name) ?? 0) + 1);
    return this.#named.get(name) ?? this.#defineNamed(name, kind);
  }

  #defineNamed(name: string, kind: NamedDefinition['kind']): number {
    for (const { key, offset } of this.#blockIndex.placesOf(name)) {
      const base = this.#baseOf.get(key);
      if (base !== undefined) return base + offset;
    }
    const index = this.#takeIndices(1);
    this.#flags[index] = kindCodes[kind];
    this.#named.set(name, index);
    this.#newNamed.push({ index, kind, name });
    return index;
  }

  #takeIndices(count: number): number {
    const free = this.#freeBases.get(count)?.pop();
    if (free !== undefined) return free;
    const base = this.#size;
    this.#size += count;
    if (this.#size > this.#values.length) {
      const capacity = Math.max(this.#size, Math.ceil(this.#values.length * 1.5));
      this.#values = grown(this.#values, Float64Array, capacity);
      this.#flags = grown(this.#flags, Uint8Array, capacity);
    }
    return base;
  }

  /**
   * Drops the named statistics below released blocks (`cluster.web.upstream_rq_503` goes with
   * `cluster.web.`), unless another block still has the prefix.
   */
  #releaseNamed(): void {
    if (this.#releasedPrefixes.size === 0) return;
    for (const { prefix } of this.#blocks.values()) this.#releasedPrefixes.delete(prefix);
    for (const name of this.#named.keys()) {
      if (this.#isBelowReleased(name)) this.#dropNamed(name);
    }
    this.#releasedPrefixes.clear();
  }

  #dropNamed(name: string): void {
    const index = this.#named.get(name);
    this.#holders.delete(name);
    if (index === undefined) return;
    this.#named.delete(name);
    this.#released.push(index, 1);
  }

  #isBelowReleased(name: string): boolean {
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      if (this.#releasedPrefixes.has(name.slice(0, dot + 1))) return true;
    }
    return false;
  }

  #freeReleased(): void {
    for (let position = 0; position < this.#released.length; position += 2) {
      const base = this.#released[position] as number;
      const count = this.#released[position + 1] as number;
      this.#values.fill(0, base, base + count);
      this.#flags.fill(FREE, base, base + count);
      for (let index = base; index < base + count; index++) this.#histograms.delete(index);
      const free = this.#freeBases.get(count);
      if (free === undefined) this.#freeBases.set(count, [base]);
      else free.push(base);
    }
    this.#released = [];
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(
  old: T,
  Type: new (length: number) => T,
  length: number,
): T {
  const larger = new Type(length);
  larger.set(old);
  return larger;
}
