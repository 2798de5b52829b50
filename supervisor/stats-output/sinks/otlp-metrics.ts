/** Metrics of the OpenTelemetry protocol: opentelemetry.proto.metrics.v1, encoded. */
import protobuf from 'protobufjs/minimal.js';
import type { ResourceAttributes } from '../../../shared/resources/telemetry/collector.ts';
import type { BucketCounts } from '../../stats/bucket-counts.ts';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const tag = (field: number, wire: number): number => field * 8 + wire;

export type Temporality = 'delta' | 'cumulative';
const TEMPORALITIES: Readonly<Record<Temporality, number>> = { delta: 1, cumulative: 2 };

/** Where and when a point belongs; nanoseconds. */
export interface PointFrame {
  readonly name: string;
  readonly attributes: readonly { readonly tag: string; readonly value: string }[];
  readonly startNanos: string;
  readonly timeNanos: string;
}

export function encodeGauge(frame: PointFrame, value: string): Uint8Array {
  const writer = begin(frame);
  writer.uint32(tag(5, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).fork();
  writer.uint32(tag(3, FIXED64)).fixed64(frame.timeNanos);
  writer.uint32(tag(6, FIXED64)).sfixed64(value);
  writeAttributes(writer, 7, frame);
  return writer.ldelim().ldelim().finish();
}

export function encodeCounter(
  frame: PointFrame,
  value: number,
  temporality: Temporality,
): Uint8Array {
  const writer = begin(frame);
  writer.uint32(tag(7, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).fork();
  writer.uint32(tag(2, FIXED64)).fixed64(frame.startNanos);
  writer.uint32(tag(3, FIXED64)).fixed64(frame.timeNanos);
  writer.uint32(tag(6, FIXED64)).sfixed64(value);
  writeAttributes(writer, 7, frame);
  writer.ldelim();
  writer.uint32(tag(2, VARINT)).uint32(TEMPORALITIES[temporality]);
  writer.uint32(tag(3, VARINT)).bool(true);
  return writer.ldelim().finish();
}

export function encodeHistogram(
  frame: PointFrame,
  counts: BucketCounts,
  bounds: readonly number[],
  temporality: Temporality,
): Uint8Array {
  const writer = begin(frame);
  writer.uint32(tag(9, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).fork();
  writer.uint32(tag(2, FIXED64)).fixed64(frame.startNanos);
  writer.uint32(tag(3, FIXED64)).fixed64(frame.timeNanos);
  writer.uint32(tag(4, FIXED64)).fixed64(counts.total);
  writer.uint32(tag(5, FIXED64)).double(counts.approximateSum());
  writer.uint32(tag(6, BYTES)).fork();
  let below = 0;
  for (const upTo of [...counts.countsUpTo(bounds), counts.total]) {
    writer.fixed64(upTo - below);
    below = upTo;
  }
  writer.ldelim();
  writer.uint32(tag(7, BYTES)).fork();
  for (const bound of bounds) writer.double(bound);
  writer.ldelim();
  writeAttributes(writer, 9, frame);
  writer.ldelim();
  writer.uint32(tag(2, VARINT)).uint32(TEMPORALITIES[temporality]);
  return writer.ldelim().finish();
}

/** An ExportMetricsServiceRequest. */
export function encodeRequest(
  resource: ResourceAttributes,
  metrics: readonly Uint8Array[],
): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).fork();
  for (const [name, value] of resource) {
    writeAttribute(writer, 1, utf8(name), utf8(value));
  }
  writer.ldelim();
  writer.uint32(tag(2, BYTES)).fork();
  for (const metric of metrics) writer.uint32(tag(2, BYTES)).bytes(metric);
  return writer.ldelim().ldelim().finish();
}

function begin({ name }: PointFrame): protobuf.Writer {
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, BYTES)).string(name);
  return writer;
}

function writeAttributes(writer: protobuf.Writer, field: number, frame: PointFrame): void {
  for (const { tag: name, value } of frame.attributes) writeAttribute(writer, field, name, value);
}

function writeAttribute(writer: protobuf.Writer, field: number, name: string, value: string): void {
  writer.uint32(tag(field, BYTES)).fork();
  writer.uint32(tag(1, BYTES)).string(name);
  writer.uint32(tag(2, BYTES)).fork().uint32(tag(1, BYTES)).string(value).ldelim();
  writer.ldelim();
}

/** Resolved texts have one character per byte. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}
