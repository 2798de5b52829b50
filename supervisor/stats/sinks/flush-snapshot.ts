/**
 * What one flush hands to the sinks: every used counter with its gain since the flush before, every
 * used gauge and the values that histograms recorded in the interval. Counters are latched once, so
 * that all sinks of a flush see the same gains.
 */
import { setImmediate } from 'node:timers/promises';
import type { BucketCounts } from '../bucket-counts.ts';
import type { CounterLatch } from '../counter-latch.ts';
import { visitSegment, type Segment } from '../ordered-view.ts';
import { selector } from '../render/selection.ts';
import type { StatStore } from '../stat-store.ts';

interface CounterReading {
  readonly name: string;
  readonly gained: number;
}

interface GaugeReading {
  readonly name: string;
  /** As it is printed. */
  readonly value: string;
}

export interface HistogramReading {
  readonly name: string;
  readonly interval: BucketCounts;
}

export interface FlushSnapshot {
  readonly counters: readonly CounterReading[];
  readonly gauges: readonly GaugeReading[];
  /** Those that recorded in the interval. */
  readonly histograms: readonly HistogramReading[];
}

/** Segments looked at between two turns of the event loop. */
const YIELD_AFTER = 256;

/** `latch` is the sinks' own. */
export async function takeSnapshot(
  store: StatStore,
  segments: readonly Segment[],
  latch: CounterLatch,
): Promise<FlushSnapshot> {
  const counters: CounterReading[] = [];
  const gauges: GaugeReading[] = [];
  const histograms: HistogramReading[] = [];
  const selects = selector(store, { usedOnly: true, hidden: 'exclude' });
  for (const [position, segment] of segments.entries()) {
    visitSegment(segment, 'scalars', (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const name = prefix + suffix;
      if (store.kindOf(index) === 'counter') {
        counters.push({ name, gained: latch.take(index, store.valueOf(index)) });
      } else gauges.push({ name, value: store.printedValue(index) });
    });
    visitSegment(segment, 'histograms', (index, prefix, suffix) => {
      const interval = store.histogramOf(index)?.interval;
      if (interval === undefined || interval.total === 0) return;
      if (selects(index, prefix, suffix)) histograms.push({ name: prefix + suffix, interval });
    });
    if (position % YIELD_AFTER === YIELD_AFTER - 1) await setImmediate();
  }
  return { counters, gauges, histograms };
}
