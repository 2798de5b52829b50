/**
 * A histogram in Prometheus' native form: buckets whose bounds grow by the factor 2^(2^-schema), as
 * fine as the limit on their number allows. A value counts where the lower end of its own bucket
 * lies.
 */
import type { BucketCounts } from '../../stats/bucket-counts.ts';

interface NativeHistogram {
  readonly schema: number;
  /** Values up to this are counted apart. */
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  /** Runs of buckets: how far after the run before (the first: its index), and how many. */
  readonly spans: readonly { readonly offset: number; readonly length: number }[];
  /** Each bucket's count less that of the bucket before. */
  readonly deltas: readonly number[];
}

/** Buckets of the finest schema are 4.4 % wide, about as wide as those that are kept. */
const FINEST_SCHEMA = 4;
const COARSEST_SCHEMA = -4;
const ZERO_THRESHOLD = 0.5;
/** What Envoy says of a histogram without values. */
const EMPTY: NativeHistogram = {
  schema: 3,
  zeroThreshold: ZERO_THRESHOLD,
  zeroCount: 0,
  spans: [{ offset: 0, length: 0 }],
  deltas: [],
};

export function nativeHistogram(counts: BucketCounts, maxBuckets: number): NativeHistogram {
  if (counts.total === 0) return EMPTY;
  for (let schema = FINEST_SCHEMA; ; schema--) {
    const buckets = bucketsIn(counts, schema);
    if (buckets.size > maxBuckets && schema > COARSEST_SCHEMA) continue;
    return { ...packed(buckets), schema, zeroThreshold: ZERO_THRESHOLD, zeroCount: zeros(counts) };
  }
}

/** Counts by index, in ascending order. */
function bucketsIn(counts: BucketCounts, schema: number): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>();
  for (const [start, , count] of counts.entries()) {
    if (start === 0) continue;
    const index = Math.ceil(Math.log2(start) * 2 ** schema);
    buckets.set(index, (buckets.get(index) ?? 0) + count);
  }
  return buckets;
}

function zeros(counts: BucketCounts): number {
  const [first] = counts.entries();
  return first?.[0] === 0 ? first[2] : 0;
}

function packed(buckets: ReadonlyMap<number, number>): Pick<NativeHistogram, 'spans' | 'deltas'> {
  const spans: { offset: number; length: number }[] = [];
  const deltas: number[] = [];
  let next = 0;
  let before = 0;
  for (const [index, count] of buckets) {
    const last = spans.at(-1);
    if (last !== undefined && index === next) last.length++;
    else spans.push({ offset: index - next, length: 1 });
    deltas.push(count - before);
    next = index + 1;
    before = count;
  }
  return { spans: spans.length === 0 ? EMPTY.spans : spans, deltas };
}
