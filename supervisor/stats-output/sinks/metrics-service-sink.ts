/**
 * Streams each flush to a metrics service over gRPC: one family per statistic, in messages of the
 * configured size. The stream is opened with the first flush and again after it has ended; what
 * could not be sent then is lost.
 */
import { setImmediate } from 'node:timers/promises';
import protobuf from 'protobufjs/minimal.js';
import type { GrpcStream, GrpcStreamHandlers } from '../../services/grpc-client.ts';
import { MetricFamilyWriter, type MetricFrame, type MetricType } from '../render/metric-family.ts';
import type { TagExtractor } from '../../stats/tags/tag-extractor.ts';
import type { FlushSnapshot, HistogramReading, Reading } from './flush-snapshot.ts';
import type { MetricsServiceConfig } from '../../stats/sink-config.ts';
import type { StatsSink } from './stats-sink.ts';

export const METRICS_METHOD = '/envoy.service.metrics.v3.MetricsService/StreamMetrics';

/** Receivers refuse messages above 4 MiB where nobody has told them otherwise. */
const MESSAGE_BYTES_MAX = 3 * 1024 * 1024;
/** `envoy_metrics` of StreamMetricsMessage, a message. */
const METRICS_FIELD = (2 << 3) | 2;

export interface MetricsServiceOptions {
  readonly config: MetricsServiceConfig;
  readonly extractor: TagExtractor;
  /** Rejects when there is no host. */
  open(handlers: GrpcStreamHandlers): Promise<GrpcStream>;
  /** The start of each stream's first message: the encoded field `identifier`. */
  identifier(): Promise<Uint8Array>;
  nowMs: () => number;
  /** A stream ended although more is to come. */
  onLost: (reason: string) => void;
}

interface Named {
  readonly name: string;
  readonly frame: MetricFrame;
}

export class MetricsServiceSink implements StatsSink {
  readonly #options: MetricsServiceOptions;
  #stream: GrpcStream | undefined;
  /** The identifier of the stream's first message; sent once. */
  #identifier: Uint8Array | undefined;

  constructor(options: MetricsServiceOptions) {
    this.#options = options;
  }

  async flush(snapshot: FlushSnapshot): Promise<void> {
    const stream = await this.#open();
    if (stream.isCongested) {
      throw new Error('cannot send statistics: the service does not take in the flushes before');
    }
    const { batchSize } = this.#options.config;
    let message = this.#begin();
    let families = 0;
    for (const family of this.#families(snapshot)) {
      message.uint32(METRICS_FIELD).bytes(family);
      families++;
      if (families !== batchSize && message.len < MESSAGE_BYTES_MAX) continue;
      stream.send(message.finish());
      message = protobuf.Writer.create();
      families = 0;
      await setImmediate();
    }
    if (families > 0) stream.send(message.finish());
  }

  async close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    await stream?.finish();
  }

  async #open(): Promise<GrpcStream> {
    if (this.#stream !== undefined) return this.#stream;
    this.#identifier = await this.#options.identifier();
    const stream = await this.#options.open({
      received: () => undefined,
      ended: (reason) => {
        if (this.#stream !== stream) return;
        this.#stream = undefined;
        this.#options.onLost(reason);
      },
    });
    this.#stream = stream;
    return stream;
  }

  #begin(): protobuf.Writer {
    const writer = protobuf.Writer.create();
    const identifier = this.#identifier;
    this.#identifier = undefined;
    // Fields of a message may be joined as bytes.
    if (identifier !== undefined) writer.raw(identifier);
    return writer;
  }

  *#families(snapshot: FlushSnapshot): Generator<Uint8Array> {
    const { config, nowMs } = this.#options;
    const timestampMs = nowMs();
    for (const counter of snapshot.counters) {
      const amount = config.reportsDeltas ? counter.gained : counter.value;
      yield single(this.#named(counter, timestampMs), 'counter', (family, frame) =>
        family.addValue(frame, amount),
      );
    }
    for (const gauge of snapshot.gauges) {
      yield single(this.#named(gauge, timestampMs), 'gauge', (family, frame) =>
        family.addValue(frame, Number(gauge.value)),
      );
    }
    for (const histogram of snapshot.histograms) {
      yield* this.#histogram(histogram, this.#named(histogram, timestampMs));
    }
  }

  *#histogram({ interval, bounds }: HistogramReading, named: Named): Generator<Uint8Array> {
    const { emitsSummaries, emitsHistograms } = this.#options.config;
    if (emitsSummaries) {
      yield single(named, 'summary', (family, frame) => family.addSummary(frame, interval));
    }
    if (emitsHistograms) {
      yield single(named, 'histogram', (family, frame) =>
        family.addHistogram(frame, interval, bounds),
      );
    }
  }

  #named({ name, extracted: known }: Reading, timestampMs: number): Named {
    if (!this.#options.config.tagsAsLabels) return { name, frame: { labels: [], timestampMs } };
    const extracted = known ?? this.#options.extractor.extract(name);
    const labels = extracted.tags.map(({ tag, value }) => ({ name: tag, value }));
    return { name: extracted.name, frame: { labels, timestampMs } };
  }
}

function single(
  { name, frame }: Named,
  type: MetricType,
  add: (family: MetricFamilyWriter, frame: MetricFrame) => void,
): Uint8Array {
  const family = new MetricFamilyWriter(name, type);
  add(family, frame);
  return family.finish();
}
