/** Quantiles against another implementation: every figure lies in the bucket of the true value. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { build } from 'hdr-histogram-js';
import { bucketOf, bucketWidth } from '../../../../shared/stats/histogram-buckets.ts';
import { BucketCounts } from '../../../../supervisor/stats/bucket-counts.ts';
import {
  QUANTILE_SHARES,
  QUANTILES,
} from '../../../../supervisor/stats-output/render/histogram-text.ts';

const values = fc.array(
  fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 5000 }), fc.nat({ max: 10_000_000 })),
  { minLength: 1, maxLength: 300 },
);

test('a quantile is off by no more than its bucket is wide', () => {
  fc.assert(
    fc.property(values, (recorded) => {
      const counts = new BucketCounts();
      const other = build({
        lowestDiscernibleValue: 1,
        highestTrackableValue: 100_000_000,
        numberOfSignificantValueDigits: 5,
      });
      for (const value of recorded) {
        counts.add(bucketOf(value), 1);
        other.recordValue(value);
      }
      counts.quantiles(QUANTILE_SHARES).forEach((quantile, position) => {
        const percent = QUANTILES[position] as number;
        const expected =
          percent === 0 ? Math.min(...recorded) : other.getValueAtPercentile(percent);
        const width = bucketWidth(bucketOf(expected));
        // The other one rounds as well, to five digits.
        const slack = width + expected * 1e-4;
        assert.ok(Math.abs(quantile - expected) <= slack, `P${percent}: ${quantile}, ${expected}`);
      });
    }),
  );
});

test('merged counts are the counts of all values', () => {
  fc.assert(
    fc.property(values, values, (left, right) => {
      const [a, b, all] = [new BucketCounts(), new BucketCounts(), new BucketCounts()];
      left.forEach((value) => a.add(bucketOf(value), 1));
      right.forEach((value) => b.add(bucketOf(value), 1));
      [...left, ...right].forEach((value) => all.add(bucketOf(value), 1));
      a.merge(b);
      assert.deepEqual([...a.entries()], [...all.entries()]);
      assert.equal(a.total, left.length + right.length);
      const sum = [...left, ...right].reduce((total, value) => total + value, 0);
      assert.ok(Math.abs(a.approximateSum() - sum) <= sum * 0.1);
    }),
  );
});

test('counts up to a bound take in the bucket that holds it', () => {
  const counts = new BucketCounts();
  for (const value of [0, 1, 5, 5, 100, 109, 110]) counts.add(bucketOf(value), 1);
  assert.deepEqual(counts.countsUpTo([0.5, 1, 5, 100, 105, 1000]), [1, 2, 4, 6, 6, 7]);
});
