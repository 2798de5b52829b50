/**
 * `/stats?format=json`: `{"stats":[…]}` with one object per text readout, counter and gauge and, when
 * there are histograms, one last object `{"histograms": …}` in the layout that was asked for.
 */
import type { BucketCounts } from '../../stats/bucket-counts.ts';
import type { HistogramStat } from '../../stats/histogram-stat.ts';
import { addAll, PageText, statsPerStep, streamGroup } from './chunks.ts';
import {
  disjointCounts,
  QUANTILE_SHARES,
  QUANTILES,
  type HistogramMode,
} from './histogram-text.ts';
import { shortestNumber } from './number-format.ts';
import { selector, selectsGroup } from '../../stats/selection.ts';
import type { TextPageOptions } from './text-page.ts';

const NO_VALUES: readonly number[] = QUANTILES.map(() => Number.NaN);

export function* jsonPage(options: TextPageOptions): Generator<string> {
  const { store, segments, endpoints, selection } = options;
  const selects = selector(store, selection);
  const text = new PageText();
  const listed = { segments, perStep: statsPerStep(selection) };
  text.add('{"stats":[');
  let separator = '';
  if (selectsGroup(selection, 'texts')) {
    yield* streamGroup(listed, 'texts', text, (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const value = JSON.stringify(store.textOf(index));
      text.add(`${separator}{"name":${jsonName(prefix + suffix)},"value":${value}}`);
      separator = ',';
    });
  }
  if (selectsGroup(selection, 'scalars')) {
    yield* streamGroup(listed, 'scalars', text, (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const value = store.printedValue(index);
      text.add(separator + '{"name":' + jsonName(prefix + suffix) + ',"value":' + value + '}');
      separator = ',';
    });
    yield* addAll(endpoints.selected(selection), text, ({ name, value }) => {
      const before = separator;
      separator = ',';
      return `${before}{"name":${jsonName(name)},"value":${value}}`;
    });
  }
  if (selectsGroup(selection, 'histograms')) {
    const frame = frames[options.histogramMode];
    const opening = `${separator}{"histograms":${frame.opening}`;
    let isOpen = false;
    yield* streamGroup(listed, 'histograms', text, (index, prefix, suffix) => {
      if (!selects(index, prefix, suffix)) return;
      const name = prefix + suffix;
      text.add(isOpen ? ',' : opening);
      isOpen = true;
      text.add(frame.member(jsonName(name), store.histogramOf(index), options.boundsOf(name)));
    });
    if (isOpen) text.add(`${frame.closing}}`);
  }
  text.add(']}');
  yield text.take();
}

interface HistogramFrame {
  readonly opening: string;
  readonly closing: string;
  member(name: string, histogram: HistogramStat | undefined, bounds: readonly number[]): string;
}

const frames: Readonly<Record<HistogramMode, HistogramFrame>> = {
  summary: {
    opening: `{"supported_quantiles":[${QUANTILES.join(',')}],"computed_quantiles":[`,
    closing: ']}',
    member: (name, histogram) => `{"name":${name},"values":${quantiles(histogram)}}`,
  },
  detailed: {
    opening: `{"supported_percentiles":[${QUANTILES.join(',')}],"details":[`,
    closing: ']}',
    member: (name, histogram) =>
      `{"name":${name},"totals":${details(histogram?.cumulative)},` +
      `"intervals":${details(histogram?.interval)},"percentiles":${quantiles(histogram)}}`,
  },
  cumulative: {
    opening: '[',
    closing: ']',
    member: (name, histogram, bounds) =>
      buckets(name, histogram, bounds, (counts) => counts.countsUpTo(bounds)),
  },
  disjoint: {
    opening: '[',
    closing: ']',
    member: (name, histogram, bounds) =>
      buckets(name, histogram, bounds, (counts) => disjointCounts(counts, bounds)),
  },
};

function quantiles(histogram: HistogramStat | undefined): string {
  const interval = histogram?.interval.quantiles(QUANTILE_SHARES) ?? NO_VALUES;
  const cumulative = histogram?.cumulative.quantiles(QUANTILE_SHARES) ?? NO_VALUES;
  const values = cumulative.map(
    (value, position) =>
      `{"cumulative":${shortestNumber(value)},"interval":${shortestNumber(interval[position] ?? Number.NaN)}}`,
  );
  return `[${values.join(',')}]`;
}

function details(counts: BucketCounts | undefined): string {
  const members = [...(counts?.entries() ?? [])].map(
    ([start, width, count]) =>
      `{"lower_bound":${shortestNumber(start)},"width":${shortestNumber(width)},"count":${count}}`,
  );
  return `[${members.join(',')}]`;
}

function buckets(
  name: string,
  histogram: HistogramStat | undefined,
  bounds: readonly number[],
  countsOf: (counts: BucketCounts) => readonly number[],
): string {
  const interval = histogram === undefined ? [] : countsOf(histogram.interval);
  const cumulative = histogram === undefined ? [] : countsOf(histogram.cumulative);
  const members = bounds.map(
    (bound, position) =>
      `{"upper_bound":${shortestNumber(bound)},"interval":${interval[position] ?? 0},` +
      `"cumulative":${cumulative[position] ?? 0}}`,
  );
  return `{"name":${name},"buckets":[${members.join(',')}]}`;
}

// oxlint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f]/;

function jsonName(name: string): string {
  return needsEscape.test(name) ? JSON.stringify(name) : `"${name}"`;
}
