/**
 * The log-linear buckets in which histograms are counted: 90 to each power of ten, so that a value
 * keeps its first two digits. A bucket has a number that orders as its values do: 0 holds zero,
 * `1 + 90 * exponent + (digits - 10)` holds the values from `digits / 10 * 10^exponent` up to the
 * next bucket, where `digits` is 10 to 99. Workers send these numbers, the supervisor adds counts
 * up.
 */

const BUCKETS_PER_DECADE = 90;
/** Values of 10^19 and more, which an unsigned 64-bit value never is, fall into the last bucket. */
const DECADES = 20;
const BUCKET_COUNT = 1 + BUCKETS_PER_DECADE * DECADES;

const powersOfTen = Float64Array.from({ length: DECADES + 1 }, (_, exponent) => 10 ** exponent);

/** The bucket of a value; below 1 (and for NaN) it is 0, since values are whole. */
export function bucketOf(value: number): number {
  const whole = Math.floor(value);
  if (!(whole >= 1)) return 0;
  let exponent = 0;
  while (exponent < DECADES && whole >= powerOfTen(exponent + 1)) exponent++;
  if (exponent === DECADES) return BUCKET_COUNT - 1;
  // From the whole value, not from a quotient: 0.1 steps are not exact in binary.
  const digits = exponent === 0 ? whole * 10 : Math.floor(whole / powerOfTen(exponent - 1));
  return 1 + exponent * BUCKETS_PER_DECADE + digits - 10;
}

/**
 * The least value of a bucket, computed as Envoy does: 510 comes out as 5.1 * 100, which is a
 * hair below. For output; buckets are compared by their numbers.
 */
export function bucketStart(bucket: number): number {
  if (bucket === 0) return 0;
  const exponent = Math.floor((bucket - 1) / BUCKETS_PER_DECADE);
  const digits = ((bucket - 1) % BUCKETS_PER_DECADE) + 10;
  return (digits / 10) * powerOfTen(exponent);
}

/** The distance from a bucket's start to the next bucket; 0 for the bucket of zero. */
export function bucketWidth(bucket: number): number {
  if (bucket === 0) return 0;
  return powerOfTen(Math.floor((bucket - 1) / BUCKETS_PER_DECADE)) / 10;
}

function powerOfTen(exponent: number): number {
  return powersOfTen[exponent] as number;
}
