/**
 * The breaker gauges of all clusters in use, brought up to date before statistics are read. Of ten
 * thousand clusters most are never asked for anything: only those are looked at whose slots
 * somebody used, and those that show something in any case.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import type { BreakerGauges } from './breaker-gauges.ts';
import type { BreakerSlots } from './breaker-slots.ts';

/** Clusters whose gauges are set between two turns of the event loop. */
const YIELD_AFTER = 256;

export class BreakerOverview {
  readonly #slots: BreakerSlots;
  readonly #runtime: () => RuntimeSnapshot;
  readonly #all = new Set<BreakerGauges>();
  /** By either slot. */
  readonly #bySlot = new Map<number, BreakerGauges>();
  /** With something to show without any use. */
  readonly #shown = new Set<BreakerGauges>();
  /** What the thresholds of all were read with. */
  #seen: RuntimeSnapshot | undefined;

  constructor(slots: BreakerSlots, runtime: () => RuntimeSnapshot) {
    this.#slots = slots;
    this.#runtime = runtime;
  }

  add(gauges: BreakerGauges): void {
    this.#all.add(gauges);
    for (const slot of slotsOf(gauges)) this.#bySlot.set(slot, gauges);
    if (!gauges.showsOnlyUse) this.#shown.add(gauges);
  }

  remove(gauges: BreakerGauges): void {
    this.#all.delete(gauges);
    this.#shown.delete(gauges);
    for (const slot of slotsOf(gauges)) this.#bySlot.delete(slot);
  }

  async refresh(): Promise<void> {
    const runtime = this.#runtime();
    const due = runtime === this.#seen ? this.#due() : [...this.#all];
    this.#seen = runtime;
    for (const [position, gauges] of due.entries()) {
      if (position % YIELD_AFTER === YIELD_AFTER - 1) await nextTurn();
      // It may have gone meanwhile.
      if (!this.#all.has(gauges)) continue;
      gauges.refresh();
      if (gauges.showsOnlyUse) this.#shown.delete(gauges);
      else this.#shown.add(gauges);
    }
  }

  #due(): readonly BreakerGauges[] {
    const due = new Set(this.#shown);
    for (const slot of this.#slots.used()) {
      const gauges = this.#bySlot.get(slot);
      if (gauges !== undefined) due.add(gauges);
    }
    return [...due];
  }
}

function slotsOf({ slots }: BreakerGauges): readonly number[] {
  return slots === undefined ? [] : [slots.DEFAULT, slots.HIGH];
}
