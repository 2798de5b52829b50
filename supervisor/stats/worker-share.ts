/**
 * One worker's share in the statistics: maps the worker's indices to the store's and remembers what
 * the worker holds and what it adds to each gauge, so that a dead worker's gauges leave at once while
 * its counters and histograms stay.
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
   * What this worker adds to each gauge, by the worker's index, since a worker may give a block up and
   * make it again within one report; zeros are left out.
   */
  readonly #gauges = new Map<number, number>();

  constructor(store: StatStore, templates: ReadonlyMap<string, StatTemplate>) {
    this.#store = store;
    this.#templates = templates;
  }

  /** Takes in one report. Throws when it names a template that this build does not have. */
  apply(report: StatsReport): void {
    for (const { base, template, prefix } of report.blocks) {
      const known = this.#templates.get(template);
      if (known === undefined) throw new Error(`unknown template of statistics: ${template}`);
      this.#map(base, this.#store.hold(known, prefix));
    }
    for (const { index, kind, name } of report.named) {
      this.#map(index, this.#store.holdNamed(kind, name));
    }
    this.#applyDeltas(report.deltas);
    this.#applyHistograms(report.histograms);
    for (const base of report.released) this.#release(base);
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

  #applyDeltas(deltas: readonly number[]): void {
    for (let position = 0; position < deltas.length; position += 2) {
      const workerIndex = deltas[position] as number;
      const index = this.#indices[workerIndex] ?? UNMAPPED;
      // A write that came after its block's release in the worker.
      if (index === UNMAPPED) continue;
      const delta = deltas[position + 1] as number;
      this.#store.add(index, delta);
      if (this.#store.kindOf(index) === 'gauge') this.#addShare(workerIndex, delta);
    }
  }

  #applyHistograms(triples: readonly number[]): void {
    for (let position = 0; position < triples.length; position += 3) {
      const index = this.#indices[triples[position] as number] ?? UNMAPPED;
      if (index === UNMAPPED) continue;
      this.#store.recordBucket(
        index,
        triples[position + 1] as number,
        triples[position + 2] as number,
      );
    }
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
