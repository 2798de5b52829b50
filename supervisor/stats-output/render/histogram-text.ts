/** One histogram in each layout of the text page, and the figures that all pages share. */
import type { BucketCounts } from '../../stats/bucket-counts.ts';
import type { HistogramStat } from '../../stats/histogram-stat.ts';
import { sixDigitNumber } from './number-format.ts';

/** How `/stats` shows histograms; `summary` is the default. */
export type HistogramMode = 'summary' | 'cumulative' | 'disjoint' | 'detailed';

/** The quantiles that are shown, in percent. */
export const QUANTILES: readonly number[] = [0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 100];
export const QUANTILE_SHARES: readonly number[] = [
  0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1,
];

/** What follows `<name>: ` or, in the detailed layout, `<name>:`. */
export function histogramText(
  histogram: HistogramStat | undefined,
  mode: HistogramMode,
  bounds: readonly number[],
): string {
  if (histogram === undefined || !histogram.used) return ' No recorded values\n';
  switch (mode) {
    case 'summary':
      return ` ${quantilesText(histogram)}\n`;
    case 'cumulative':
      return ` ${bucketsText(bounds, histogram.interval.countsUpTo(bounds), histogram.cumulative.countsUpTo(bounds))}\n`;
    case 'disjoint':
      return ` ${bucketsText(bounds, disjointCounts(histogram.interval, bounds), disjointCounts(histogram.cumulative, bounds))}\n`;
    case 'detailed':
      return (
        `\n  totals=${detailText(histogram.cumulative)}` +
        `\n  intervals=${detailText(histogram.interval)}` +
        `\n  summary=${quantilesText(histogram)}\n`
      );
  }
}

/** Counts between each bound and the bound before it. */
export function disjointCounts(counts: BucketCounts, bounds: readonly number[]): number[] {
  const upTo = counts.countsUpTo(bounds);
  return upTo.map((count, position) => count - (upTo[position - 1] ?? 0));
}

function quantilesText({ interval, cumulative }: HistogramStat): string {
  const inInterval = interval.quantiles(QUANTILE_SHARES);
  const inAll = cumulative.quantiles(QUANTILE_SHARES);
  return QUANTILES.map(
    (percent, position) =>
      `P${percent}(${number(inInterval[position])},${number(inAll[position])})`,
  ).join(' ');
}

function bucketsText(
  bounds: readonly number[],
  interval: readonly number[],
  cumulative: readonly number[],
): string {
  return bounds
    .map(
      (bound, position) =>
        `B${sixDigitNumber(bound)}(${interval[position] ?? 0},${cumulative[position] ?? 0})`,
    )
    .join(' ');
}

function detailText(counts: BucketCounts): string {
  return [...counts.entries()]
    .map(([start, width, count]) => `${sixDigitNumber(start)},${sixDigitNumber(width)}:${count}`)
    .join(', ');
}

function number(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? 'nan' : String(value);
}
