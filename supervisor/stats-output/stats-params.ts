/**
 * The parameters of `/stats` and `/stats/prometheus`: read and checked in Envoy's order and
 * refused in its words.
 */
import type { FilterCompiler } from '../stats/name-filter.ts';
import type { Query } from '../http-pages/query.ts';
import type { StatKind } from '../../shared/stats/template.ts';
import { chooseExposition, type Exposition } from './exposition.ts';
import type { HistogramMode } from './render/histogram-text.ts';
import type { PrometheusHistogramMode } from './render/prometheus-histograms.ts';
import type { Selection } from '../stats/selection.ts';

type StatsFormat = 'text' | 'json' | 'html' | 'prometheus';

export interface StatsParams {
  readonly format: StatsFormat;
  readonly selection: Selection;
  /** For text and JSON. */
  readonly histogramMode: HistogramMode;
  readonly prometheusMode: PrometheusHistogramMode;
  /** Prometheus only: text readouts as gauges with a label. */
  readonly textReadouts: boolean;
  /** Prometheus only: HELP lines, which Envoy does not print. */
  readonly hasHelp: boolean;
  /** Prometheus only. */
  readonly exposition: Exposition;
  /** Of a native histogram, at most. */
  readonly maxNativeBuckets: number;
}

export type StatsParamsResult =
  | { readonly ok: true; readonly params: StatsParams }
  /** The body of the answer with status 400. */
  | { readonly ok: false; readonly error: string };

const kinds: ReadonlyMap<string, StatKind | undefined> = new Map([
  ['All', undefined],
  ['Counters', 'counter'],
  ['Gauges', 'gauge'],
  ['Histograms', 'histogram'],
  ['TextReadouts', 'text_readout'],
]);
const formats: ReadonlyMap<string, StatsFormat> = new Map([
  ['text', 'text'],
  ['json', 'json'],
  ['html', 'html'],
  ['active-html', 'html'],
  ['prometheus', 'prometheus'],
]);
const bucketModes: ReadonlySet<string> = new Set([
  'none',
  'cumulative',
  'disjoint',
  'detailed',
  'summary',
  'prometheusnative',
]);
const hiddenModes: ReadonlySet<string> = new Set(['include', 'only', 'exclude']);

export interface StatsRequest {
  readonly query: Query;
  /** The header `accept`. */
  readonly accept: string;
  /** The path was `/stats/prometheus`, whatever `format` says. */
  readonly isPrometheus: boolean;
}

const DEFAULT_NATIVE_BUCKETS = 20;
const UINT32_MAX = 0xffffffff;

export function readStatsParams(
  { query, accept, isPrometheus }: StatsRequest,
  compileFilter: FilterCompiler,
): StatsParamsResult {
  const acceptsName = readFilter(query, compileFilter);
  if (typeof acceptsName === 'string') return refused(acceptsName);
  const words = readChoices(query);
  if (typeof words === 'string') return refused(words);
  const { buckets, kind, hidden, maxNativeBuckets } = words;
  const format = isPrometheus ? 'prometheus' : words.format;
  const exposition = chooseExposition(query, accept);
  const unsupported = bucketError(buckets, format, exposition);
  if (unsupported !== undefined) return refused(unsupported);
  const selection: Selection = {
    usedOnly: query.has('usedonly'),
    hidden,
    // The Prometheus page lists all kinds whatever is asked for.
    ...(kind === undefined || format === 'prometheus' ? {} : { kind }),
    ...(acceptsName === undefined ? {} : { acceptsName }),
  };
  return {
    ok: true,
    params: {
      format,
      selection,
      histogramMode: isHistogramMode(buckets) ? buckets : 'summary',
      prometheusMode: prometheusMode(buckets, query),
      textReadouts: query.has('text_readouts'),
      hasHelp: query.has('help'),
      exposition,
      maxNativeBuckets,
    },
  };
}

interface Words {
  readonly buckets: string;
  readonly maxNativeBuckets: number;
  readonly kind: StatKind | undefined;
  readonly hidden: Selection['hidden'];
  readonly format: StatsFormat;
}

/** The parameters that take one of a few words, or the text that refuses the first wrong one. */
function readChoices(query: Query): Words | string {
  const buckets = query.nonEmpty('histogram_buckets') ?? 'none';
  if (!bucketModes.has(buckets)) {
    return 'usage: /stats?histogram_buckets=(cumulative|disjoint|detailed|summary|prometheusnative)\n';
  }
  const maxNativeBuckets = readMaxBuckets(query.nonEmpty('native_histogram_max_buckets'));
  if (maxNativeBuckets === undefined) {
    return 'invalid native_histogram_max_buckets value: must be a positive integer';
  }
  const type = query.nonEmpty('type') ?? 'All';
  if (!kinds.has(type)) return 'invalid &type= param';
  const hidden = query.nonEmpty('hidden') ?? 'exclude';
  if (!isHiddenMode(hidden)) return 'usage: /stats?hidden=(include|only|exclude)\n\n';
  const format = formats.get(query.nonEmpty('format') ?? 'text');
  if (format === undefined) {
    return 'usage: /stats?format=(html|active-html|json|prometheus|text)\n\n';
  }
  return { buckets, maxNativeBuckets, kind: kinds.get(type), hidden, format };
}

function readMaxBuckets(text: string | undefined): number | undefined {
  if (text === undefined) return DEFAULT_NATIVE_BUCKETS;
  const count = /^\s*\+?\d+\s*$/.test(text) ? Number(text) : 0;
  return count > 0 && count <= UINT32_MAX ? count : undefined;
}

function readFilter(
  query: Query,
  compileFilter: FilterCompiler,
): ((name: string) => boolean) | string | undefined {
  const pattern = query.nonEmpty('filter');
  if (pattern === undefined) return undefined;
  const accepts = compileFilter(pattern);
  if (typeof accepts === 'string' || !query.has('invert_filter')) return accepts;
  return (name) => !accepts(name);
}

function bucketError(
  buckets: string,
  format: StatsFormat,
  exposition: Exposition,
): string | undefined {
  if (format !== 'prometheus') {
    return buckets === 'prometheusnative'
      ? 'Invalid histogram_buckets type for non prometheus stats type'
      : undefined;
  }
  if (buckets === 'prometheusnative' && exposition !== 'protobuf') {
    return 'unsupported prometheusnative histogram type when not using protobuf exposition format';
  }
  return buckets === 'disjoint' || buckets === 'detailed'
    ? 'unsupported prometheus histogram bucket mode'
    : undefined;
}

/** Without the parameter the page has buckets; `none` asks for summaries, as `summary` does. */
function prometheusMode(buckets: string, query: Query): PrometheusHistogramMode {
  if (query.nonEmpty('histogram_buckets') === undefined) return 'buckets';
  if (buckets === 'prometheusnative') return 'native';
  return buckets === 'none' || buckets === 'summary' ? 'summary' : 'buckets';
}

function isHiddenMode(text: string): text is Selection['hidden'] {
  return hiddenModes.has(text);
}

function isHistogramMode(text: string): text is HistogramMode {
  return text === 'cumulative' || text === 'disjoint' || text === 'detailed' || text === 'summary';
}

function refused(error: string): StatsParamsResult {
  return { ok: false, error };
}
