/** Statistics as lines of the statsd protocol, with or without tags. */
import { lineOf } from '../../../shared/stats/stat-scope.ts';
import type { TagExtractor } from '../../stats/tags/tag-extractor.ts';
import type { FlushSnapshot, HistogramReading, Reading } from './flush-snapshot.ts';

/** A histogram's bucket with more values than this makes one line with a sample rate. */
const MAX_REPEATED = 16;

/** Gives the name as it is sent and what stands behind the type: tags, or nothing. */
export type NameForm = (reading: Reading) => { readonly name: string; readonly tags: string };

export interface LineOptions {
  readonly form: NameForm;
  /** Values of histograms in microseconds are sent as milliseconds, otherwise as they are. */
  readonly scalesToMs?: boolean;
}

export function plainNames(prefix: string): NameForm {
  const begin = lineOf(prefix);
  return ({ name }) => ({ name: `${begin}.${name}`, tags: '' });
}

/** `dog.cluster.upstream_rq_total` and `|#envoy.cluster_name:web`. */
export function taggedNames(prefix: string, extractor: TagExtractor): NameForm {
  const begin = lineOf(prefix);
  return ({ name, extracted = extractor.extract(name) }) => {
    const tags = lineOf(extracted.tags.map(({ tag, value }) => `${tag}:${value}`).join(','));
    return { name: `${begin}.${extracted.name}`, tags: tags === '' ? '' : `|#${tags}` };
  };
}

/** `gr.cluster.upstream_rq_total;envoy.cluster_name=web`: the tags are a part of the name. */
export function graphiteNames(prefix: string, extractor: TagExtractor): NameForm {
  const begin = lineOf(prefix);
  return ({ name, extracted = extractor.extract(name) }) => {
    const tags = lineOf(extracted.tags.map(({ tag, value }) => `;${tag}=${value}`).join(''));
    return { name: `${begin}.${extracted.name}${tags}`, tags: '' };
  };
}

export function* statsdLines(snapshot: FlushSnapshot, options: LineOptions): Generator<string> {
  const { form } = options;
  for (const counter of snapshot.counters) {
    const { name: sent, tags } = form(counter);
    yield `${sent}:${counter.gained}|c${tags}`;
  }
  for (const gauge of snapshot.gauges) {
    const { name: sent, tags } = form(gauge);
    yield `${sent}:${gauge.value}|g${tags}`;
  }
  for (const histogram of snapshot.histograms) yield* histogramLines(histogram, options);
}

function* histogramLines(
  histogram: HistogramReading,
  { form, scalesToMs = false }: LineOptions,
): Generator<string> {
  const { interval, isInMicroseconds } = histogram;
  const divisor = scalesToMs && isInMicroseconds ? 1000 : 1;
  const { name: sent, tags } = form(histogram);
  for (const [start, , count] of interval.entries()) {
    const value = Math.round(start) / divisor;
    if (count > MAX_REPEATED) {
      yield `${sent}:${value}|ms|@${1 / count}${tags}`;
      continue;
    }
    for (let n = 0; n < count; n++) yield `${sent}:${value}|ms${tags}`;
  }
}
