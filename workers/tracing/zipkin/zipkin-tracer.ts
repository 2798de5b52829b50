/** The Zipkin tracer: contexts of B3 and W3C, spans to a collector by HTTP. */
import type { ZipkinTracerConfig } from '../../../shared/resources/tracing/zipkin.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import { ZIPKIN_TRACER } from '../../../shared/stats/templates/telemetry.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { BatchSender } from '../../telemetry/batch-sender.ts';
import { HttpCollector, type Outcome } from '../../telemetry/collector.ts';
import { NO_SPAN, type Span, type SpanStart, type Tracer } from '../span.ts';
import { newId64 } from '../span-ids.ts';
import type { TracerEnv } from '../tracer-env.ts';
import { hasW3cContext, readW3cContext } from '../w3c-context.ts';
import { type B3Context, type B3Ids, readB3Context } from './b3-context.ts';
import {
  ZIPKIN_JSON,
  ZIPKIN_PROTO,
  type ZipkinEndpoint,
  type ZipkinFormat,
  type ZipkinRecord,
} from './span-formats.ts';
import { ZipkinSpan, type ZipkinReporter } from './zipkin-span.ts';

const MIN_FLUSH_SPANS = 5;
const FLUSH_INTERVAL_MS = 5000;
/** Spans that wait while the collector takes its time. */
const WAITING_MAX = 4096;

const { index } = ZIPKIN_TRACER;
const OUTCOMES: Readonly<Record<Outcome, number>> = {
  accepted: index.reports_sent,
  refused: index.reports_dropped,
  failed: index.reports_failed,
  no_cluster: index.reports_skipped_no_cluster,
};

interface Incoming extends B3Context {
  readonly w3cState: string;
}

export class ZipkinTracer implements Tracer, ZipkinReporter {
  readonly #endpoint: ZipkinEndpoint;
  readonly #format: ZipkinFormat;
  readonly #config: ZipkinTracerConfig;
  readonly #env: TracerEnv;
  readonly #collector: HttpCollector;
  readonly #sender: BatchSender;
  readonly #base: number;

  constructor(config: ZipkinTracerConfig, env: TracerEnv) {
    const { loop, runtime, stats, node, localAddress } = env;
    this.#config = config;
    this.#env = env;
    this.#base = stats.defineBlock(ZIPKIN_TRACER, 'tracing.zipkin.');
    this.#endpoint = { serviceName: node.cluster, ip: localAddress };
    this.#format = config.isProtobuf ? ZIPKIN_PROTO : ZIPKIN_JSON;
    const kind = { contentType: this.#format.contentType, accepted: 202 };
    this.#collector = new HttpCollector(config.collector, kind, env.services);
    this.#sender = new BatchSender({
      loop,
      limits: () => ({
        records: readInteger(runtime.snapshot, 'tracing.zipkin.min_flush_spans', MIN_FLUSH_SPANS),
        ms: readInteger(runtime.snapshot, 'tracing.zipkin.flush_interval_ms', FLUSH_INTERVAL_MS),
      }),
      waitingMax: WAITING_MAX,
      send: (spans, done) => this.#send(spans, done),
      onDropped: () => this.#count(index.reports_dropped),
      onInterval: () => this.#count(index.timer_flushed),
    });
  }

  begin(headers: HeaderMap, start: SpanStart): Span {
    const incoming = this.#read(headers);
    if (incoming === 'broken') return NO_SPAN;
    const { ids, sampled, isSingle, w3cState } = incoming;
    const isSampled = sampled ?? start.isSampled;
    const kind = start.kind === 'client' && !this.#config.splitsSpans ? 'client' : 'server';
    const isShared = this.#config.sharesSpans && kind === 'server';
    const context = {
      ...this.#idsOf(ids, isShared),
      isSampled,
      isSingle,
      w3cState: this.#config.usesW3c ? w3cState : undefined,
    };
    const { startWallMs } = start;
    const operation = headers.authority;
    return new ZipkinSpan(context, { operation, kind, startWallMs, isShared }, this);
  }

  report(span: ZipkinRecord): void {
    this.#sender.add(this.#format.encode(span, this.#endpoint));
  }

  release(): void {
    this.#sender.release();
    this.#env.stats.releaseBlock(this.#base);
  }

  #read(headers: HeaderMap): Incoming | 'broken' {
    const b3 = readB3Context(headers);
    if (b3 === 'broken') return b3;
    const w3cState = this.#config.usesW3c ? (headers.getAll('tracestate') ?? '') : '';
    const isFallback = this.#config.usesW3c && b3.ids === undefined && !b3.isSingle;
    if (!isFallback || !hasW3cContext(headers)) return { ...b3, w3cState };
    const w3c = readW3cContext(headers);
    if (w3c === undefined) return { ...b3, w3cState };
    const ids = { traceId: w3c.traceId, spanId: w3c.parentId, parentId: '' };
    return { ids, sampled: w3c.isSampled, isSingle: false, w3cState };
  }

  #idsOf(given: B3Ids | undefined, isShared: boolean): B3Ids {
    if (given === undefined) {
      const spanId = newId64();
      return { traceId: this.#newTraceId(spanId), spanId, parentId: '' };
    }
    if (isShared) return given;
    return { traceId: given.traceId, spanId: newId64(), parentId: given.spanId };
  }

  /** The lower half of a new trace's id is its first span's. */
  #newTraceId(spanId: string): string {
    const { has128BitIds, hasTimestampIds } = this.#config;
    if (hasTimestampIds) {
      const seconds = Math.floor(this.#env.loop.clock.wallMs / 1000);
      return seconds.toString(16).padStart(8, '0') + newId64().slice(0, 8) + spanId;
    }
    return has128BitIds ? newId64() + spanId : spanId;
  }

  #send(spans: readonly Buffer[], done: (outcome: Outcome) => void): void {
    this.#env.stats.add(this.#base + index.spans_sent, spans.length);
    this.#collector.send(this.#format.join(spans), (outcome) => {
      this.#count(OUTCOMES[outcome]);
      done(outcome);
    });
  }

  #count(offset: number): void {
    this.#env.stats.increment(this.#base + offset);
  }
}
