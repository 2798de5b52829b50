/** `/stats/prometheus` as length-delimited protobuf messages, one per family. */
import protobuf from 'protobufjs/minimal.js';
import { BucketCounts } from '../../stats/bucket-counts.ts';
import { labelsOf } from '../../stats/tags/prometheus-names.ts';
import { MetricFamilyWriter, type MetricType } from './metric-family.ts';
import type { PrometheusHistogramMode } from './prometheus-histograms.ts';
import { endpointFamilies } from './endpoint-families.ts';
import { stepsOf, visitFamily, type PrometheusPageOptions } from './prometheus-page.ts';
import type { Family } from './prometheus-plan.ts';

/** The parts of a page's piece. */
const PARTS_PER_PIECE = 64;
const NOTHING = new BucketCounts();

/**
 * A family is in memory whole: its length stands before it. Empty pieces are places to pause at.
 */
export function* protobufPage(options: PrometheusPageOptions): Generator<Uint8Array | ''> {
  for (const family of options.families) {
    if (family.kind === 'text_readout' && !options.textReadouts) continue;
    const { metric, help } = family;
    const type = typeOf(family, options.histogramMode);
    const writer = new MetricFamilyWriter(metric, type, options.hasHelp ? help : '');
    const parts: Uint8Array[] = [];
    let isEmpty = true;
    for (const range of stepsOf(family, options.selection)) {
      visitFamily(options, family, range, (index, name, labels) => {
        isEmpty = false;
        addSeries(writer, family, options, { index, name, labels });
      });
      parts.push(writer.takePart());
      yield '';
    }
    if (!isEmpty) yield* withLength(parts);
  }
  const ofEndpoints = yield* endpointFamilies(options.endpoints, options.selection);
  for (const { metric, kind, series } of ofEndpoints) {
    const writer = new MetricFamilyWriter(metric, kind === 'counter' ? 'counter' : 'gauge', '');
    const parts: Uint8Array[] = [];
    for (const { labels, value } of series) {
      writer.addValue({ labels: labelsOf(labels) }, value);
      parts.push(writer.takePart());
      yield '';
    }
    yield* withLength(parts);
  }
}

/** Parts are joined to pieces of some length, so that none is written by itself. */
function* withLength(parts: readonly Uint8Array[]): Generator<Uint8Array | ''> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  let joined: Uint8Array[] = [protobuf.Writer.create().uint32(length).finish()];
  for (const part of parts) {
    joined.push(part);
    if (joined.length < PARTS_PER_PIECE) continue;
    yield Buffer.concat(joined);
    joined = [];
  }
  yield Buffer.concat(joined);
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
