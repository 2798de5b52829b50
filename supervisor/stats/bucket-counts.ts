/**
 * Counts per histogram bucket, sorted by bucket, and what can be said from them: quantiles, sums
 * and counts up to a bound. Pure data; which interval the counts belong to is its owner's business.
 *
 * The figures follow Envoy's: the k-th of n values in a bucket stands k / (n + 1) of the
 * bucket's width above its start, and a bucket's values count in a sum by its harmonic middle.
 */
import { bucketOf, bucketStart, bucketWidth } from '../../shared/stats/histogram-buckets.ts';

export class BucketCounts {
  #buckets: number[] = [];
  #counts: number[] = [];
  #total = 0;

  /** Number of recorded values. */
  get total(): number {
    return this.#total;
  }

  add(bucket: number, count: number): void {
    let position = this.#buckets.length;
    while (position > 0 && (this.#buckets[position - 1] as number) > bucket) position--;
    if (position > 0 && this.#buckets[position - 1] === bucket) {
      this.#counts[position - 1] = (this.#counts[position - 1] as number) + count;
    } else {
      this.#buckets.splice(position, 0, bucket);
      this.#counts.splice(position, 0, count);
    }
    this.#total += count;
  }

  merge(other: BucketCounts): void {
    other.#buckets.forEach((bucket, position) => {
      this.add(bucket, other.#counts[position] as number);
    });
  }

  /** Values with the start, width and count of their bucket, in ascending order. */
  *entries(): Generator<readonly [start: number, width: number, count: number]> {
    for (const [position, bucket] of this.#buckets.entries()) {
      yield [bucketStart(bucket), bucketWidth(bucket), this.#counts[position] as number];
    }
  }

  /** The quantiles of these shares (0 to 1, ascending); NaN when nothing was recorded. */
  quantiles(shares: readonly number[]): number[] {
    if (this.#total === 0) return shares.map(() => Number.NaN);
    let position = 0;
    let below = 0;
    return shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * this.#total));
      while (below + (this.#counts[position] as number) < rank) {
        below += this.#counts[position] as number;
        position++;
      }
      const bucket = this.#buckets[position] as number;
      const count = this.#counts[position] as number;
      return bucketStart(bucket) + (bucketWidth(bucket) * (rank - below)) / (count + 1);
    });
  }

  /** How many values lie in buckets up to the one that holds each bound (ascending). */
  countsUpTo(bounds: readonly number[]): number[] {
    let position = 0;
    let sum = 0;
    return bounds.map((bound) => {
      const last = bucketOf(bound);
      while (position < this.#buckets.length && (this.#buckets[position] as number) <= last) {
        sum += this.#counts[position] as number;
        position++;
      }
      return sum;
    });
  }

  /** The sum of the values as far as their buckets tell. */
  approximateSum(): number {
    let sum = 0;
    for (const [start, width, count] of this.entries()) {
      // The harmonic mean of both ends, in the form whose rounding is Envoy's.
      if (start > 0) sum += (start + width * (start / (start + start + width))) * count;
    }
    return sum;
  }
}
