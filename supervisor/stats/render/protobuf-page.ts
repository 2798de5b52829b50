/** `/stats/prometheus` as length-delimited protobuf messages, one per family. */
import { setImmediate } from 'node:timers/promises';
import protobuf from 'protobufjs/minimal.js';
import { BucketCounts } from '../bucket-counts.ts';
import { labelsOf } from '../tags/prometheus-names.ts';
import { MetricFamilyWriter, type MetricType } from './metric-family.ts';
import type { PrometheusHistogramMode } from './prometheus-histograms.ts';
import { endpointFamilies } from './endpoint-families.ts';
import { visitFamily, type PrometheusPageOptions } from './prometheus-page.ts';
import type { Family } from './prometheus-plan.ts';

/** Series written between two turns of the event loop. */
const SLICE = 256;
const NOTHING = new BucketCounts();

/** A family is in memory whole: its length stands before it. */
export async function* protobufPage(options: PrometheusPageOptions): AsyncGenerator<Uint8Array> {
  for (const family of options.families) {
    if (family.kind === 'text_readout' && !options.textReadouts) continue;
    const { metric, help } = family;
    const type = typeOf(family, options.histogramMode);
    const writer = new MetricFamilyWriter(metric, type, options.hasHelp ? help : '');
    let isEmpty = true;
    const length = family.run?.blocks.length ?? family.members.length;
    for (let start = 0; start < length; start += SLICE) {
      const range = { start, end: Math.min(length, start + SLICE) };
      visitFamily(options, family, range, (index, name, labels) => {
        isEmpty = false;
        addSeries(writer, family, options, { index, name, labels });
      });
      if (range.end < length) await setImmediate();
    }
    if (!isEmpty) yield protobuf.Writer.create().bytes(writer.finish()).finish();
    await setImmediate();
  }
  for (const { metric, kind, series } of endpointFamilies(options.endpoints, options.selection)) {
    const writer = new MetricFamilyWriter(metric, kind === 'counter' ? 'counter' : 'gauge', '');
    for (const { labels, value } of series) writer.addValue({ labels: labelsOf(labels) }, value);
    yield protobuf.Writer.create().bytes(writer.finish()).finish();
  }
}

function typeOf({ kind }: Family, mode: PrometheusHistogramMode): MetricType {
  switch (kind) {
    case 'counter':
    case 'gauge':
      return kind;
    case 'text_readout':
      return 'gauge';
    case 'histogram':
      return mode === 'summary' ? 'summary' : 'histogram';
  }
}

function addSeries(
  writer: MetricFamilyWriter,
  { kind }: Family,
  { store, histogramMode, boundsOf, maxNativeBuckets }: PrometheusPageOptions,
  { index, name, labels: text }: { index: number; name: string; labels: string },
): void {
  const labels = labelsOf(text);
  switch (kind) {
    case 'counter':
    case 'gauge':
      return writer.addValue({ labels }, Number(store.printedValue(index)));
    case 'text_readout': {
      const value = { name: 'text_value', value: store.textOf(index) };
      return writer.addValue({ labels: [...labels, value] }, 0);
    }
    case 'histogram': {
      const { interval = NOTHING, cumulative = NOTHING } = store.histogramOf(index) ?? {};
      if (histogramMode === 'summary') return writer.addSummary({ labels }, interval);
      if (histogramMode === 'buckets') {
        return writer.addHistogram({ labels }, cumulative, boundsOf(name));
      }
      return writer.addNativeHistogram({ labels }, cumulative, maxNativeBuckets);
    }
  }
}
