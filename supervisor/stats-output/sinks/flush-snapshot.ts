/**
 * What one flush hands to the sinks: every used counter with its gain since the flush before, every
 * used gauge and the values that histograms recorded in the interval. Counters are latched once, so
 * that all sinks of a flush see the same gains.
 */
import type { BucketCounts } from '../../stats/bucket-counts.ts';
import type { CounterLatch } from '../../stats/counter-latch.ts';
import type { EndpointStats } from '../../stats/endpoint-stats.ts';
import { LoopTurns, type Steps } from '../../loop/loop-turns.ts';
import { visitSegment, type Segment } from '../../stats/ordered-view.ts';
import { selector } from '../../stats/selection.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { ExtractedName } from '../../stats/tags/tag-extractor.ts';

export interface Reading {
  readonly name: string;
  /** Where the rules for tags do not say: for statistics of single hosts. */
  readonly extracted?: ExtractedName;
}

interface CounterReading extends Reading {
  readonly gained: number;
  /** Since the start, or the last reset. */
  readonly value: number;
}

interface GaugeReading extends Reading {
  /** As it is printed. */
  readonly value: string;
}

export interface HistogramReading extends Reading {
  readonly isInMicroseconds: boolean;
  readonly interval: BucketCounts;
  /** Since the start. */
  readonly cumulative: BucketCounts;
  /** Upper bounds of the buckets that receivers of buckets are told. */
  readonly bounds: readonly number[];
}

export interface FlushSnapshot {
  readonly counters: readonly CounterReading[];
  readonly gauges: readonly GaugeReading[];
  /** Those that have ever recorded; the interval of some is empty. */
  readonly histograms: readonly HistogramReading[];
}

export interface SnapshotSource {
  readonly store: StatStore;
  readonly segments: readonly Segment[];
  readonly endpoints: EndpointStats;
  /** The sinks' own. */
  readonly latch: CounterLatch;
  readonly boundsOf: (name: string) => readonly number[];
}

export async function takeSnapshot(
  source: SnapshotSource,
  turns = new LoopTurns(),
): Promise<FlushSnapshot> {
  return await turns.run(snapshotOf(source));
}

function* snapshotOf(source: SnapshotSource): Steps<FlushSnapshot> {
  const { store, segments, endpoints, latch, boundsOf } = source;
  const counters: CounterReading[] = [];
  const gauges: GaugeReading[] = [];
  const histograms: HistogramReading[] = [];
  const selects = selector(store, { usedOnly: true, hidden: 'exclude' });
  for (const segment of segments) {
    visitSegment(segment, 'scalars', (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const name = prefix + suffix;
      if (store.kindOf(index) === 'counter') {
        const value = store.valueOf(index);
        counters.push({ name, gained: latch.take(index, value), value });
      } else gauges.push({ name, value: store.printedValue(index) });
    });
    visitSegment(segment, 'histograms', (index, prefix, suffix) => {
      const histogram = store.histogramOf(index);
      if (histogram === undefined || !selects(index, prefix, suffix)) return;
      const name = prefix + suffix;
      const { interval, cumulative } = histogram;
      const isInMicroseconds = store.isInMicroseconds(index);
      histograms.push({ name, isInMicroseconds, interval, cumulative, bounds: boundsOf(name) });
    });
    yield;
  }
  for (const { name, kind, value, index, extracted } of endpoints.all()) {
    if (kind === 'gauge') gauges.push({ name, value: String(value), extracted });
    else {
      const gained = index === undefined ? 0 : latch.take(index, value);
      counters.push({ name, gained, value, extracted });
    }
    yield;
  }
  return { counters, gauges, histograms };
}
