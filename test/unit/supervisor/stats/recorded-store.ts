/**
 * Rebuilds the statistics of a recorded reference from its detailed listing, so that every other
 * listing of the same moment can be compared byte for byte.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bucketOf } from '../../../../shared/stats/histogram-buckets.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';

const golden = join(import.meta.dirname, '../../../../../test/unit/supervisor/stats/golden');

export function recorded(file: string): string {
  return readFileSync(join(golden, file), 'utf8');
}

interface Values {
  readonly name: string;
  totals: Map<number, number>;
  intervals: Map<number, number>;
}

export function recordedStore(): StatStore {
  const gauges = namesIn('gauges.txt');
  const used = namesIn('used.txt');
  const store = new StatStore();
  const histograms: Values[] = [];
  for (const line of recorded('detailed.txt').split('\n')) {
    const [, key = '', value = ''] = /^(.*?)(?:: |=|:$|$)(.*)$/.exec(line) ?? [];
    if (line.startsWith('  ')) readBuckets(histograms.at(-1), key.trim(), value);
    else if (line.endsWith(':')) {
      histograms.push({ name: key, totals: new Map(), intervals: new Map() });
    } else if (value === 'No recorded values') store.defineHistogram(key);
    else if (line !== '') {
      const index = gauges.has(key) ? store.defineGauge(key) : store.defineCounter(key);
      if (used.has(key)) store.add(index, Number(value));
    }
  }
  for (const histogram of histograms)
    fill(store, histogram, (count, last) => count - last, 'totals');
  store.flushHistograms();
  for (const histogram of histograms) fill(store, histogram, (_count, last) => last, 'intervals');
  store.flushHistograms();
  return store;
}

function namesIn(file: string): Set<string> {
  return new Set(
    recorded(file)
      .split('\n')
      .map((line) => line.replace(/: .*/, '')),
  );
}

function readBuckets(values: Values | undefined, key: string, text: string): void {
  if (values === undefined || (key !== 'totals' && key !== 'intervals')) return;
  for (const [, start, count] of text.matchAll(/([\d.e+]+),[\d.e+]+:(\d+)/g)) {
    values[key].set(bucketStartingAt(Number(start)), Number(count));
  }
}

/** Starts below 10 have a fraction, values have none. */
function bucketStartingAt(start: number): number {
  return start === 0 || start >= 10 ? bucketOf(start) : Math.round(start * 10) - 9;
}

function fill(
  store: StatStore,
  { name, totals, intervals }: Values,
  countOf: (total: number, last: number) => number,
  part: 'totals' | 'intervals',
): void {
  const index = store.defineHistogram(name);
  const buckets = part === 'totals' ? totals : intervals;
  for (const bucket of buckets.keys()) {
    const count = countOf(totals.get(bucket) ?? 0, intervals.get(bucket) ?? 0);
    if (count > 0) store.recordBucket(index, bucket, count);
  }
}
