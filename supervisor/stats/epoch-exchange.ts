/**
 * Statistics across a hot restart: what a parent tells its child on each of the child's questions,
 * and the parent's share in the child's store until the parent is gone. Messages are another
 * part's.
 *
 * The first telling holds each counter's whole value, the others what was added since, so that a
 * child's counters go on where its parent's stood. Gauges are told as they stand.
 */
import { setImmediate } from 'node:timers/promises';
import type { OrderedView } from './ordered-view.ts';
import { visitSegment } from './ordered-view.ts';
import type { CounterLatch } from './counter-latch.ts';
import { NEVER_IMPORT } from './stat-flags.ts';
import type { StatStore } from './stat-store.ts';
import { selector } from './selection.ts';

export interface EpochStats {
  readonly counterDeltas: ReadonlyMap<string, number>;
  readonly gauges: ReadonlyMap<string, number>;
}

/** Segments looked at between two turns of the event loop. */
const YIELD_AFTER = 256;

/** The parent's side. */
export class EpochExport {
  readonly #store: StatStore;
  readonly #view: OrderedView;
  readonly #latch: CounterLatch;

  constructor(store: StatStore, view: OrderedView) {
    this.#store = store;
    this.#view = view;
    this.#latch = store.makeLatch();
  }

  /** The child died: the next one is told everything again. */
  startAgain(): void {
    this.#latch.clear(0, this.#store.size);
  }

  /**
   * Everything that was used; the workers' deltas should have been brought in before. `valueOf`
   * says how far each counter is told, where that is less than its value.
   */
  async take(
    valueOf: (index: number) => number = (index) => this.#store.valueOf(index),
  ): Promise<EpochStats> {
    const store = this.#store;
    const counterDeltas = new Map<string, number>();
    const gauges = new Map<string, number>();
    const selects = selector(store, { usedOnly: true, hidden: 'include' });
    for (const [position, segment] of (await this.#view.segments()).entries()) {
      visitSegment(segment, 'scalars', (index, prefix, suffix) => {
        if (!selects(index, prefix, suffix)) return;
        if (store.kindOf(index) === 'gauge') {
          const value = store.valueOf(index);
          if ((store.flagsOf(index) & NEVER_IMPORT) === 0) {
            gauges.set(prefix + suffix, Math.max(0, Math.trunc(value)));
          }
          return;
        }
        const gain = this.#latch.take(index, valueOf(index));
        if (gain !== 0) counterDeltas.set(prefix + suffix, gain);
      });
      if (position % YIELD_AFTER === YIELD_AFTER - 1) await setImmediate();
    }
    return { counterDeltas, gauges };
  }
}

/** The child's side: one parent's share, which leaves with the parent but for its counters. */
export class ParentShare {
  readonly #store: StatStore;
  /** What the parent adds to each gauge, by name. */
  #gauges = new Map<string, number>();

  constructor(store: StatStore) {
    this.#store = store;
  }

  /**
   * `areKnown`: the parent has told its sinks of these counters, so that ours are not told again.
   */
  merge({ counterDeltas, gauges }: EpochStats, areKnown = false): void {
    for (const [name, delta] of counterDeltas) {
      const index = this.#store.indexForImport('counter', name);
      if (index === undefined) continue;
      if (areKnown) this.#store.addKnown(index, delta);
      else this.#store.add(index, delta);
    }
    const before = this.#gauges;
    this.#gauges = new Map();
    for (const [name, value] of gauges) {
      // What nothing here has defined yet is added whole when it is.
      const isAdded = this.#addToGauge(name, value - (before.get(name) ?? 0));
      if (isAdded) this.#gauges.set(name, value);
    }
    for (const [name, value] of before) if (!gauges.has(name)) this.#addToGauge(name, -value);
  }

  /** The parent is gone. */
  leave(): void {
    for (const [name, value] of this.#gauges) this.#addToGauge(name, -value);
    this.#gauges.clear();
  }

  #addToGauge(name: string, delta: number): boolean {
    const index = this.#store.indexForImport('gauge', name);
    if (index === undefined || (this.#store.flagsOf(index) & NEVER_IMPORT) !== 0) return false;
    if (delta !== 0) this.#store.add(index, delta);
    return true;
  }
}
