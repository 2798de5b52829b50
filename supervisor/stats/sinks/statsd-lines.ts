/** Statistics as lines of the statsd protocol, with or without tags. */
import type { TagExtractor } from '../tags/tag-extractor.ts';
import type { FlushSnapshot, HistogramReading } from './flush-snapshot.ts';

/** A histogram's bucket with more values than this makes one line with a sample rate. */
const MAX_REPEATED = 16;

/** Gives the name as it is sent and what stands behind the type: tags, or nothing. */
export type NameForm = (name: string) => { readonly name: string; readonly tags: string };

export function plainNames(prefix: string): NameForm {
  return (name) => ({ name: `${prefix}.${name}`, tags: '' });
}

/** `dog.cluster.upstream_rq_total` and `|#envoy.cluster_name:web`. */
export function taggedNames(prefix: string, extractor: TagExtractor): NameForm {
  return (name) => {
    const extracted = extractor.extract(name);
    const tags = extracted.tags.map(({ tag, value }) => `${tag}:${value}`).join(',');
    return { name: `${prefix}.${extracted.name}`, tags: tags === '' ? '' : `|#${tags}` };
  };
}

/** `gr.cluster.upstream_rq_total;envoy.cluster_name=web`: the tags are a part of the name. */
export function graphiteNames(prefix: string, extractor: TagExtractor): NameForm {
  return (name) => {
    const extracted = extractor.extract(name);
    const tags = extracted.tags.map(({ tag, value }) => `;${tag}=${value}`).join('');
    return { name: `${prefix}.${extracted.name}${tags}`, tags: '' };
  };
}

export function* statsdLines(snapshot: FlushSnapshot, form: NameForm): Generator<string> {
  for (const { name, gained } of snapshot.counters) {
    const { name: sent, tags } = form(name);
    yield `${sent}:${gained}|c${tags}`;
  }
  for (const { name, value } of snapshot.gauges) {
    const { name: sent, tags } = form(name);
    yield `${sent}:${value}|g${tags}`;
  }
  for (const histogram of snapshot.histograms) yield* histogramLines(histogram, form);
}

function* histogramLines({ name, interval }: HistogramReading, form: NameForm): Generator<string> {
  const { name: sent, tags } = form(name);
  for (const [start, , count] of interval.entries()) {
    const value = Math.round(start);
    if (count > MAX_REPEATED) {
      yield `${sent}:${value}|ms|@${1 / count}${tags}`;
      continue;
    }
    for (let n = 0; n < count; n++) yield `${sent}:${value}|ms${tags}`;
  }
}
