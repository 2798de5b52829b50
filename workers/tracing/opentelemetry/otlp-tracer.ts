/** The OpenTelemetry tracer: contexts of W3C, spans by the OpenTelemetry protocol. */
import type { OpenTelemetryTracerConfig } from '../../../shared/resources/tracing/opentelemetry.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import { OPENTELEMETRY_TRACER } from '../../../shared/stats/templates/telemetry.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { BatchSender } from '../../telemetry/batch-sender.ts';
import { otlpCollector, type Collector, type Outcome } from '../../telemetry/collector.ts';
import { writeResource } from '../../telemetry/otlp-values.ts';
import { NO_SPAN, type Span, type SpanStart, type Tracer } from '../span.ts';
import { newId128, newId64 } from '../span-ids.ts';
import type { TracerEnv } from '../tracer-env.ts';
import { hasW3cContext, readW3cContext } from '../w3c-context.ts';
import { OtlpSpan } from './otlp-span.ts';
import { compileSampler, type CompiledSampler } from './samplers.ts';

const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const MIN_FLUSH_SPANS = 5;
const FLUSH_INTERVAL_MS = 5000;
const { index } = OPENTELEMETRY_TRACER;

export class OpenTelemetryTracer implements Tracer {
  readonly #config: OpenTelemetryTracerConfig;
  readonly #env: TracerEnv;
  readonly #base: number;
  readonly #collector: Collector;
  readonly #sender: BatchSender;
  readonly #sampler: CompiledSampler | undefined;
  readonly #report: (span: Buffer) => void;

  constructor(config: OpenTelemetryTracerConfig, env: TracerEnv) {
    const { loop, runtime, stats } = env;
    this.#config = config;
    this.#env = env;
    this.#base = stats.defineBlock(OPENTELEMETRY_TRACER, 'tracing.opentelemetry.');
    this.#sampler = config.sampler && compileSampler(config.sampler);
    this.#collector = otlpCollector(config.exporter, METHOD, env, config.userAgent);
    const read = (name: string, fallback: number): number =>
      readInteger(runtime.snapshot, `tracing.opentelemetry.${name}`, fallback);
    this.#sender = new BatchSender({
      loop,
      limits: () => ({
        records: read('min_flush_spans', MIN_FLUSH_SPANS),
        ms: read('flush_interval_ms', FLUSH_INTERVAL_MS),
      }),
      waitingMax: config.spansMax,
      send: (spans, done) => this.#send(spans, done),
      onDropped: (spans) => stats.add(this.#base + index.spans_dropped, spans),
      onInterval: () => stats.increment(this.#base + index.timer_flushed),
    });
    this.#report = (span) => this.#sender.add(span);
  }

  begin(headers: HeaderMap, start: SpanStart): Span {
    const parent = hasW3cContext(headers) ? readW3cContext(headers) : undefined;
    if (parent === undefined && hasW3cContext(headers)) return NO_SPAN;
    const traceId = parent?.traceId.toLowerCase() ?? newId128();
    const context = {
      traceId,
      spanId: newId64(),
      parentId: parent?.parentId.toLowerCase() ?? '',
      isParentRemote: parent !== undefined,
      isSampled:
        start.isSampled && (this.#sampler?.(traceId, parent) ?? parent?.isSampled !== false),
      state: parent?.state ?? '',
    };
    return new OtlpSpan(context, start, this.#report);
  }

  release(): void {
    this.#sender.release();
    this.#collector.release();
    this.#env.stats.releaseBlock(this.#base);
  }

  #send(spans: readonly Buffer[], done: (outcome: Outcome) => void): void {
    const { resource, scope } = this.#config;
    const writer = new ProtoWriter();
    writer.message(1, () => {
      writeResource(writer, resource);
      writer.message(2, () => {
        if (scope !== undefined) {
          writer.message(1, () => {
            writer.text(1, scope.name);
            writer.text(2, scope.version);
          });
        }
        for (const span of spans) writer.bytes(2, span);
      });
    });
    this.#env.stats.add(this.#base + index.spans_sent, spans.length);
    this.#collector.send(writer.finish(), done);
  }
}
