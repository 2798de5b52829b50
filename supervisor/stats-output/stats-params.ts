/**
 * The parameters of `/stats` and `/stats/prometheus`, in the order in which Envoy checks them and
 * refused in its words; and which of them its help and forms show.
 */
import {
  BadParam,
  flag,
  oneOf,
  parsed,
  readParams,
  shownParams,
  text,
  words,
  type ParamValues,
  type ShownParam,
} from '../http-pages/params.ts';
import type { Query } from '../http-pages/query.ts';
import type { StatKind } from '../../shared/stats/template.ts';
import type { NameFilter } from '../stats/name-filter.ts';
import type { Selection } from '../stats/selection.ts';
import { chooseExposition, type Exposition } from './exposition.ts';
import type { HistogramMode } from './render/histogram-text.ts';
import type { PrometheusHistogramMode } from './render/prometheus-histograms.ts';

type StatsFormat = 'text' | 'json' | 'html' | 'prometheus';
type AskedFormat = StatsFormat | 'openmetrics';

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
  /** Asked for, where the client takes it. */
  readonly isGzipped: boolean;
  /** The limit of buckets of a native histogram. */
  readonly maxNativeBuckets: number;
  /** A cursor of an earlier answer; empty: the whole page. */
  readonly since: string;
}

export type StatsParamsResult =
  | { readonly ok: true; readonly params: StatsParams }
  /** The body of the answer with status 400. */
  | { readonly ok: false; readonly error: string };

const KINDS: ReadonlyMap<string, StatKind | undefined> = new Map([
  ['All', undefined],
  ['Counters', 'counter'],
  ['Gauges', 'gauge'],
  ['Histograms', 'histogram'],
  ['TextReadouts', 'text_readout'],
]);
const FORMATS: ReadonlyMap<string, AskedFormat> = new Map([
  ['text', 'text'],
  ['json', 'json'],
  ['html', 'html'],
  ['active-html', 'html'],
  ['prometheus', 'prometheus'],
  // Prometheus' own families with what OpenMetrics adds: help, and requests that stand for values.
  ['openmetrics', 'openmetrics'],
]);
const BUCKETS_HELP = 'Histogram bucket display mode';

const DEFAULT_NATIVE_BUCKETS = 20;
const UINT32_MAX = 0xffffffff;

const PARAMS = {
  filter: text('Regular expression (Google re2) for filtering stats'),
  invert_filter: flag('Invert the filter regex'),
  histogram_buckets: oneOf({
    help: BUCKETS_HELP,
    shown: ['cumulative', 'disjoint', 'detailed', 'summary'],
    values: words('none', 'cumulative', 'disjoint', 'detailed', 'summary', 'prometheusnative'),
    byDefault: undefined,
    otherwise: new BadParam(
      'usage: /stats?histogram_buckets=(cumulative|disjoint|detailed|summary|prometheusnative)\n',
    ),
  }),
  native_histogram_max_buckets: parsed(undefined, readMaxBuckets, DEFAULT_NATIVE_BUCKETS),
  type: oneOf({
    help: 'Stat types to include.',
    shown: ['All', 'Counters', 'Histograms', 'Gauges', 'TextReadouts'],
    values: KINDS,
    byDefault: undefined,
    otherwise: new BadParam('invalid &type= param'),
  }),
  hidden: oneOf({
    values: words('include', 'only', 'exclude'),
    byDefault: 'exclude' as const,
    otherwise: new BadParam('usage: /stats?hidden=(include|only|exclude)\n\n'),
  }),
  format: oneOf({
    help: 'Format to use',
    shown: ['html', 'active-html', 'text', 'json'],
    values: FORMATS,
    byDefault: 'text' as const,
    otherwise: new BadParam('usage: /stats?format=(html|active-html|json|prometheus|text)\n\n'),
  }),
  usedonly: flag('Only include stats that have been written by system since restart'),
  text_readouts: flag(
    'Render text_readouts as new gaugues with value 0 (increases Prometheus data size)',
  ),
  help: flag(),
  prom_protobuf: flag(),
  openmetrics: flag(),
  gzip: flag(),
  since: text('What changed since the answer that gave this cursor; now begins'),
};

type Given = ParamValues<typeof PARAMS>;

/** What help and the form of `/stats` show, in Envoy's order. */
export const STATS_SHOWN: readonly ShownParam[] = shownParams(PARAMS, [
  'usedonly',
  'filter',
  'invert_filter',
  'format',
  'type',
  'histogram_buckets',
  'since',
]);

export const PROMETHEUS_SHOWN: readonly ShownParam[] = [
  ...shownParams(PARAMS, ['usedonly', 'text_readouts', 'filter', 'invert_filter']),
  {
    kind: 'enum',
    name: 'format',
    help: 'OpenMetrics has help texts, and sampled requests that stand for values',
    choices: ['prometheus', 'openmetrics'],
  },
  {
    kind: 'enum',
    name: 'histogram_buckets',
    help: BUCKETS_HELP,
    choices: ['cumulative', 'summary'],
  },
];

export interface StatsRequest {
  readonly query: Query;
  /** The header `accept`. */
  readonly accept: string;
  /** The path was `/stats/prometheus`, whatever `format` says. */
  readonly isPrometheus: boolean;
  /** What `filter` was compiled to. */
  readonly filter: NameFilter | undefined;
}

/** Envoy checks the filter first. */
export function readStatsParams({
  query,
  accept,
  isPrometheus,
  filter,
}: StatsRequest): StatsParamsResult {
  if (typeof filter === 'string') return { ok: false, error: filter };
  const given = readParams(PARAMS, query);
  if (given instanceof BadParam) return { ok: false, error: given.text };
  const isOpenMetrics = given.format === 'openmetrics';
  const format = isPrometheus || given.format === 'openmetrics' ? 'prometheus' : given.format;
  const exposition = isOpenMetrics ? 'openmetrics' : chooseExposition(given, accept);
  const error = bucketError(given.histogram_buckets, format, exposition);
  if (error !== undefined) return { ok: false, error };
  return {
    ok: true,
    params: {
      format,
      selection: selectionOf(given, format, filter),
      histogramMode: histogramMode(given.histogram_buckets),
      prometheusMode: prometheusMode(given.histogram_buckets),
      textReadouts: given.text_readouts,
      hasHelp: given.help || isOpenMetrics,
      exposition,
      isGzipped: given.gzip,
      maxNativeBuckets: given.native_histogram_max_buckets,
      since: isPrometheus ? '' : (given.since ?? ''),
    },
  };
}

function selectionOf(
  { usedonly: usedOnly, hidden, type: kind, invert_filter: isInverted }: Given,
  format: StatsFormat,
  accepts: ((name: string) => boolean) | undefined,
): Selection {
  const acceptsName =
    accepts !== undefined && isInverted ? (name: string) => !accepts(name) : accepts;
  return {
    usedOnly,
    hidden,
    // The Prometheus page lists all kinds whatever is asked for.
    ...(kind === undefined || format === 'prometheus' ? {} : { kind }),
    ...(acceptsName === undefined ? {} : { acceptsName }),
  };
}

function readMaxBuckets(given: string): number | BadParam {
  const count = /^\s*\+?\d+\s*$/.test(given) ? Number(given) : 0;
  return count > 0 && count <= UINT32_MAX
    ? count
    : new BadParam('invalid native_histogram_max_buckets value: must be a positive integer');
}

function bucketError(
  buckets: Given['histogram_buckets'],
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
function prometheusMode(buckets: Given['histogram_buckets']): PrometheusHistogramMode {
  if (buckets === undefined) return 'buckets';
  if (buckets === 'prometheusnative') return 'native';
  return buckets === 'none' || buckets === 'summary' ? 'summary' : 'buckets';
}

function histogramMode(buckets: Given['histogram_buckets']): HistogramMode {
  return buckets === undefined || buckets === 'none' || buckets === 'prometheusnative'
    ? 'summary'
    : buckets;
}
