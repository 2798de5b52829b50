/**
 * Sends each flush to a collector by the OpenTelemetry protocol, in one request or in requests of
 * the configured size. One flush is under way at a time; what could not be sent is lost.
 */
import { setImmediate } from 'node:timers/promises';
import type { OpenTelemetrySinkConfig } from '../../stats/sink-config.ts';
import type { TagExtractor } from '../../stats/tags/tag-extractor.ts';
import type { FlushSnapshot, Reading } from './flush-snapshot.ts';
import { encodeCounter, encodeGauge, encodeHistogram, encodeRequest } from './otlp-metrics.ts';
import type { PointFrame, Temporality } from './otlp-metrics.ts';
import type { StatsSink } from './stats-sink.ts';

export const OTLP_METRICS_METHOD =
  '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/** Between turns of the loop. */
const POINTS_PER_TURN = 256;

export interface OpenTelemetrySinkOptions {
  readonly config: OpenTelemetrySinkConfig;
  readonly extractor: TagExtractor;
  /** Rejects when the collector did not take it. */
  send(body: Uint8Array): Promise<void>;
  close(): void;
  nowMs(): number;
}

export class OpenTelemetrySink implements StatsSink {
  readonly #options: OpenTelemetrySinkOptions;
  readonly #beganMs: number;
  #lastMs: number;

  constructor(options: OpenTelemetrySinkOptions) {
    this.#options = options;
    this.#beganMs = options.nowMs();
    this.#lastMs = this.#beganMs;
  }

  async flush(snapshot: FlushSnapshot): Promise<void> {
    const { config } = this.#options;
    const limit = config.pointsPerRequest === 0 ? Infinity : config.pointsPerRequest;
    let points: Uint8Array[] = [];
    let count = 0;
    for (const point of this.#points(snapshot)) {
      points.push(point);
      if (++count % POINTS_PER_TURN === 0) await setImmediate();
      if (points.length < limit) continue;
      await this.#options.send(encodeRequest(config.resource, points));
      points = [];
    }
    if (points.length > 0) await this.#options.send(encodeRequest(config.resource, points));
  }

  close(): void {
    this.#options.close();
  }

  *#points({ counters, gauges, histograms }: FlushSnapshot): Generator<Uint8Array> {
    const { config } = this.#options;
    const frames = this.#frames(this.#options.nowMs());
    const ofCounters = temporality(config.reportsCounterDeltas);
    for (const counter of counters) {
      const isDelta = ofCounters === 'delta';
      if (isDelta && counter.gained === 0) continue;
      const value = isDelta ? counter.gained : counter.value;
      yield encodeCounter(frames(counter, ofCounters), value, ofCounters);
    }
    for (const gauge of gauges) yield encodeGauge(frames(gauge, 'cumulative'), gauge.value);
    const ofHistograms = temporality(config.reportsHistogramDeltas);
    for (const histogram of histograms) {
      const isDelta = ofHistograms === 'delta';
      const counts = isDelta ? histogram.interval : histogram.cumulative;
      if (counts.total === 0) continue;
      yield encodeHistogram(
        frames(histogram, ofHistograms),
        counts,
        histogram.bounds,
        ofHistograms,
      );
    }
  }

  /** The frames of this flush. */
  #frames(nowMs: number): (reading: Reading, since: Temporality) => PointFrame {
    const { config, extractor } = this.#options;
    const [time, last, began] = [nowMs, this.#lastMs, this.#beganMs].map(nanos);
    this.#lastMs = nowMs;
    return (reading, since) => {
      const extracted = reading.extracted ?? extractor.extract(reading.name);
      const name = config.usesExtractedNames ? extracted.name : reading.name;
      return {
        name: config.prefix + name,
        attributes: config.tagsAsAttributes ? extracted.tags : [],
        startNanos: (since === 'delta' ? last : began) ?? '0',
        timeNanos: time ?? '0',
      };
    };
  }
}

function temporality(isDelta: boolean): Temporality {
  return isDelta ? 'delta' : 'cumulative';
}

function nanos(ms: number): string {
  return `${Math.floor(ms)}000000`;
}
