/**
 * Histograms on the Prometheus page: as cumulative buckets with all values since the start, or as
 * summaries with the quantiles of the last interval.
 */
import type { Exemplar } from '../../../shared/messages/exemplars.ts';
import type { StatKind } from '../../../shared/stats/template.ts';
import { BucketCounts } from '../../stats/bucket-counts.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { Exposition } from '../exposition.ts';
import type { PageText } from './chunks.ts';
import { QUANTILE_SHARES } from './histogram-text.ts';
import { canonicalBound, exemplarsByName, exemplarTexts } from './openmetrics.ts';
import { exactNumber } from './number-format.ts';

/** `native` only in protobuf. */
export type PrometheusHistogramMode = 'buckets' | 'summary' | 'native';

export interface HistogramSeries {
  readonly metric: string;
  readonly name: string;
  readonly labels: string;
}

const NOTHING = new BucketCounts();

export class PrometheusHistograms {
  readonly #store: StatStore;
  readonly #mode: PrometheusHistogramMode;
  readonly #boundsOf: (name: string) => readonly number[];
  readonly #text: PageText;
  readonly #isOpenMetrics: boolean;
  /** By the histogram's name. */
  readonly #exemplars: ReadonlyMap<string, readonly Exemplar[]>;
  /** The ends of the bucket lines up to the value, by bounds. */
  readonly #emptyEnds = new Map<readonly number[], readonly string[]>();
  readonly #bucketEnds = new Map<readonly number[], readonly string[]>();

  constructor(
    options: {
      readonly store: StatStore;
      readonly histogramMode: PrometheusHistogramMode;
      readonly boundsOf: (name: string) => readonly number[];
      readonly exposition: Exposition;
      readonly exemplars: readonly Exemplar[];
    },
    text: PageText,
  ) {
    this.#store = options.store;
    this.#mode = options.histogramMode;
    this.#boundsOf = options.boundsOf;
    this.#text = text;
    this.#isOpenMetrics = options.exposition === 'openmetrics';
    this.#exemplars = exemplarsByName(options.exemplars);
  }

  /** The word of a family's TYPE line. */
  typeOf(kind: StatKind): string {
    if (kind === 'text_readout') return 'gauge';
    return kind === 'histogram' && this.#mode === 'summary' ? 'summary' : kind;
  }

  write(index: number, series: HistogramSeries): void {
    if (this.#mode === 'summary') this.#writeSummary(index, series);
    else this.#writeBuckets(index, series);
  }

  #writeBuckets(index: number, { metric, name, labels }: HistogramSeries): void {
    const counts = this.#store.histogramOf(index)?.cumulative ?? NOTHING;
    const bounds = this.#boundsOf(name);
    const start = [metric, '_bucket{', labels, labels === '' ? '' : ','].join('');
    if (counts.total === 0)
      return this.#text.add(this.#emptyBuckets(bounds, start, metric, labels));
    const ends = this.#endsOf(bounds);
    const values = counts.countsUpTo(bounds);
    const found = exemplarTexts(this.#exemplars.get(name), bounds);
    let lines = '';
    for (let position = 0; position < ends.length; position++) {
      lines += start + (ends[position] as string) + String(values[position]);
      lines += (found.get(position) ?? '') + '\n';
    }
    lines += `${start}le="+Inf"} ${counts.total}${found.get(ends.length) ?? ''}\n`;
    this.#text.add(lines + sumAndCount(metric, labels, counts));
  }

  /** Most histograms have no values: all their lines are one join. */
  #emptyBuckets(bounds: readonly number[], start: string, metric: string, labels: string): string {
    let ends = this.#emptyEnds.get(bounds);
    if (ends === undefined) {
      ends = ['', ...this.#endsOf(bounds).map((end) => `${end}0\n`), 'le="+Inf"} 0\n'];
      this.#emptyEnds.set(bounds, ends);
    }
    return (
      ends.join(start) + metric + '_sum{' + labels + '} 0\n' + metric + '_count{' + labels + '} 0\n'
    );
  }

  #writeSummary(index: number, { metric, labels }: HistogramSeries): void {
    const counts = this.#store.histogramOf(index)?.interval ?? NOTHING;
    const separator = labels === '' ? '' : ',';
    const quantiles = counts.quantiles(QUANTILE_SHARES);
    const lines = QUANTILE_SHARES.map((share, position) => {
      const value = quantiles[position] ?? Number.NaN;
      const printed = Number.isNaN(value) ? this.#nan : exactNumber(value);
      return `${metric}{${labels}${separator}quantile="${this.#labelNumber(String(share))}"} ${printed}\n`;
    });
    this.#text.add(lines.join('') + sumAndCount(metric, labels, counts));
  }

  get #nan(): string {
    return this.#isOpenMetrics ? 'NaN' : 'nan';
  }

  #labelNumber(text: string): string {
    return this.#isOpenMetrics ? canonicalBound(text) : text;
  }

  #endsOf(bounds: readonly number[]): readonly string[] {
    let ends = this.#bucketEnds.get(bounds);
    if (ends === undefined) {
      ends = bounds.map((bound) => `le="${this.#labelNumber(boundText(bound))}"} `);
      this.#bucketEnds.set(bounds, ends);
    }
    return ends;
  }
}

function sumAndCount(metric: string, labels: string, counts: BucketCounts): string {
  const sum = exactNumber(counts.approximateSum());
  return `${metric}_sum{${labels}} ${sum}\n${metric}_count{${labels}} ${counts.total}\n`;
}

/** Bounds are printed without an exponent as far as they are whole. */
function boundText(bound: number): string {
  return Number.isInteger(bound) ? String(bound) : exactNumber(bound);
}
