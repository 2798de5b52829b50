/**
 * One worker's share in the statistics: maps the worker's indices to the store's and remembers what
 * the worker holds and what it adds to each gauge, so that a dead worker's gauges leave at once
 * while its counters and histograms stay.
 *
 * A share belongs to one process: a replacement gets a new one. Blocks that only a dead worker held
 * stay until a later holder releases them.
 */
import type { StatsReport } from '../../shared/stats/report.ts';
import type { StatTemplate } from '../../shared/stats/template.ts';
import type { Definition, StatStore } from './stat-store.ts';

const UNMAPPED = -1;

export class WorkerShare {
  readonly #store: StatStore;
  readonly #templates: ReadonlyMap<string, StatTemplate>;
  /** The store's index for each of the worker's. */
  #indices = new Int32Array(1024).fill(UNMAPPED);
  /** By the worker's base. */
  readonly #held = new Map<number, Definition>();
  /**
   * What this worker adds to each gauge, by the worker's index, since a worker may give a block up
   * and make it again within one report; zeros are left out.
   */
  readonly #gauges = new Map<number, number>();

  constructor(store: StatStore, templates: ReadonlyMap<string, StatTemplate>) {
    this.#store = store;
    this.#templates = templates;
  }

  /**
   * Takes in one report. What the worker gave up goes before the rest is made: what it made again
   * under the same name begins at zero, unless somebody else has that too. Throws when the report
   * names a template that this build does not have.
   */
  apply(report: StatsReport): void {
    const gone = new Set(report.released);
    // It may have been made since the last report too.
    this.#define(report, (base) => gone.has(base));
    const deltas = this.#applyDeltas(report.deltas);
    const histograms = this.#applyHistograms(report.histograms);
    for (const base of gone) this.#release(base);
    this.#define(report, (base) => !gone.has(base));
    this.#applyDeltas(deltas);
    this.#applyHistograms(histograms);
  }

  /** The worker is gone: its gauges count no more. */
  leave(): void {
    for (const [workerIndex, value] of this.#gauges) {
      this.#store.subtract(this.#indices[workerIndex] as number, value);
    }
    this.#gauges.clear();
    for (const definition of this.#held.values()) definition.holders--;
    this.#held.clear();
    this.#indices.fill(UNMAPPED);
  }

  #define({ blocks, named }: StatsReport, isMeant: (base: number) => boolean): void {
    for (const { base, template, prefix } of blocks) {
      if (!isMeant(base)) continue;
      const known = this.#templates.get(template);
      if (known === undefined) throw new Error(`unknown template of statistics: ${template}`);
      this.#map(base, this.#store.hold(known, prefix));
    }
    for (const { index, kind, name } of named) {
      if (isMeant(index)) this.#map(index, this.#store.holdNamed(kind, name));
    }
  }

  /**
   * Returns what has no place: of what is yet to be defined, and writes that came after a release.
   */
  #applyDeltas(deltas: readonly number[]): readonly number[] {
    const rest: number[] = [];
    for (let position = 0; position < deltas.length; position += 2) {
      const workerIndex = deltas[position] as number;
      const index = this.#indices[workerIndex] ?? UNMAPPED;
      const delta = deltas[position + 1] as number;
      if (index === UNMAPPED) {
        rest.push(workerIndex, delta);
        continue;
      }
      this.#store.add(index, delta);
      if (this.#store.kindOf(index) === 'gauge') this.#addShare(workerIndex, delta);
    }
    return rest;
  }

  /** As above. */
  #applyHistograms(triples: readonly number[]): readonly number[] {
    const rest: number[] = [];
    for (let position = 0; position < triples.length; position += 3) {
      const workerIndex = triples[position] as number;
      const bucket = triples[position + 1] as number;
      const count = triples[position + 2] as number;
      const index = this.#indices[workerIndex] ?? UNMAPPED;
      if (index === UNMAPPED) rest.push(workerIndex, bucket, count);
      else this.#store.recordBucket(index, bucket, count);
    }
    return rest;
  }

  #addShare(workerIndex: number, delta: number): void {
    const share = (this.#gauges.get(workerIndex) ?? 0) + delta;
    if (share === 0) this.#gauges.delete(workerIndex);
    else this.#gauges.set(workerIndex, share);
  }

  #map(workerBase: number, definition: Definition): void {
    const end = workerBase + definition.size;
    if (end > this.#indices.length) {
      const larger = new Int32Array(Math.max(end, Math.ceil(this.#indices.length * 1.5)));
      larger.fill(UNMAPPED, this.#indices.length);
      larger.set(this.#indices);
      this.#indices = larger;
    }
    for (let offset = 0; offset < definition.size; offset++) {
      this.#indices[workerBase + offset] = definition.base + offset;
    }
    this.#held.set(workerBase, definition);
  }

  #release(workerBase: number): void {
    const definition = this.#held.get(workerBase);
    if (definition === undefined) return;
    this.#held.delete(workerBase);
    this.#indices.fill(UNMAPPED, workerBase, workerBase + definition.size);
    for (let offset = 0; offset < definition.size; offset++) {
      const share = this.#gauges.get(workerBase + offset);
      if (share === undefined) continue;
      this.#gauges.delete(workerBase + offset);
      this.#store.subtract(definition.base + offset, share);
    }
    this.#store.release(definition);
  }
}
