/**
 * Metric families in Prometheus' protobuf form (`io.prometheus.client.MetricFamily`), written field
 * by field: a page or a flush may hold a million values. It knows no statistics and no stream.
 */
import protobuf from 'protobufjs/minimal.js';
import type { BucketCounts } from '../../stats/bucket-counts.ts';
import type { Label } from '../../stats/tags/prometheus-names.ts';
import { QUANTILE_SHARES } from './histogram-text.ts';
import { nativeHistogram } from './native-histogram.ts';

export type MetricType = keyof typeof TYPE_NUMBERS;

/** What a metric is about, beside its value. */
export interface MetricFrame {
  readonly labels: readonly Label[];
  /** Unix time. */
  readonly timestampMs?: number;
}

const TYPE_NUMBERS = { counter: 0, gauge: 1, summary: 2, histogram: 4 } as const;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

export class MetricFamilyWriter {
  readonly #writer = protobuf.Writer.create();
  readonly #type: MetricType;

  constructor(name: string, type: MetricType, help = '') {
    this.#type = type;
    this.#writer.uint32(tag(1, BYTES)).string(name);
    if (help !== '') this.#writer.uint32(tag(2, BYTES)).string(help);
    this.#writer.uint32(tag(3, VARINT)).int32(TYPE_NUMBERS[type]);
  }

  /** A value of a family of counters or gauges. */
  addValue(frame: MetricFrame, value: number): void {
    this.#add(frame, this.#type === 'gauge' ? 2 : 3, () => {
      this.#writer.uint32(tag(1, FIXED64)).double(value);
    });
  }

  addSummary(frame: MetricFrame, counts: BucketCounts): void {
    this.#add(frame, 4, () => {
      this.#countAndSum(counts);
      const quantiles = counts.quantiles(QUANTILE_SHARES);
      QUANTILE_SHARES.forEach((share, position) => {
        this.#writer.uint32(tag(3, BYTES)).fork();
        this.#writer.uint32(tag(1, FIXED64)).double(share);
        this.#writer.uint32(tag(2, FIXED64)).double(quantiles[position] ?? Number.NaN);
        this.#writer.ldelim();
      });
    });
  }

  addHistogram(frame: MetricFrame, counts: BucketCounts, bounds: readonly number[]): void {
    const upTo = counts.countsUpTo(bounds);
    this.#add(frame, 7, () => {
      this.#countAndSum(counts);
      bounds.forEach((bound, position) => {
        this.#writer.uint32(tag(3, BYTES)).fork();
        this.#writer.uint32(tag(1, VARINT)).uint64(upTo[position] ?? 0);
        this.#writer.uint32(tag(2, FIXED64)).double(bound);
        this.#writer.ldelim();
      });
    });
  }

  addNativeHistogram(frame: MetricFrame, counts: BucketCounts, maxBuckets: number): void {
    const native = nativeHistogram(counts, maxBuckets);
    this.#add(frame, 7, () => {
      this.#countAndSum(counts);
      this.#writer.uint32(tag(5, VARINT)).sint32(native.schema);
      if (counts.total > 0) this.#writer.uint32(tag(6, FIXED64)).double(native.zeroThreshold);
      if (native.zeroCount > 0) this.#writer.uint32(tag(7, VARINT)).uint64(native.zeroCount);
      for (const { offset, length } of native.spans) {
        this.#writer.uint32(tag(12, BYTES)).fork();
        if (offset !== 0) this.#writer.uint32(tag(1, VARINT)).sint32(offset);
        if (length !== 0) this.#writer.uint32(tag(2, VARINT)).uint32(length);
        this.#writer.ldelim();
      }
      if (native.deltas.length === 0) return;
      this.#writer.uint32(tag(13, BYTES)).fork();
      for (const delta of native.deltas) this.#writer.sint64(delta);
      this.#writer.ldelim();
    });
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }

  /** What was written since it was called the last time: a long family is encoded part by part. */
  takePart(): Uint8Array {
    const part = this.#writer.finish();
    this.#writer.reset();
    return part;
  }

  #add({ labels, timestampMs }: MetricFrame, field: number, writeValue: () => void): void {
    const writer = this.#writer.uint32(tag(4, BYTES)).fork();
    for (const { name, value } of labels) {
      writer.uint32(tag(1, BYTES)).fork();
      writer.uint32(tag(1, BYTES)).string(name).uint32(tag(2, BYTES)).string(value);
      writer.ldelim();
    }
    writer.uint32(tag(field, BYTES)).fork();
    writeValue();
    writer.ldelim();
    if (timestampMs !== undefined) writer.uint32(tag(6, VARINT)).int64(timestampMs);
    writer.ldelim();
  }

  #countAndSum(counts: BucketCounts): void {
    this.#writer.uint32(tag(1, VARINT)).uint64(counts.total);
    this.#writer.uint32(tag(2, FIXED64)).double(counts.approximateSum());
  }
}

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}
