/** A span of the Zipkin tracer: its context, and what is told of it when it is over. */
import type { HeaderMap } from '../../stream/header-map.ts';
import { type Span, type SpanKind, SpanTags } from '../span.ts';
import { newId64 } from '../span-ids.ts';
import { writeTraceparent, writeTracestate } from '../w3c-context.ts';
import { type B3Ids, writeB3Context } from './b3-context.ts';
import type { ZipkinRecord } from './span-formats.ts';

export interface ZipkinContext extends B3Ids {
  readonly isSampled: boolean;
  /** The context came in one header, and leaves in one. */
  readonly isSingle: boolean;
  /** Undefined: the context of W3C is not written. */
  readonly w3cState: string | undefined;
}

export interface ZipkinSpanParts {
  readonly operation: string;
  readonly kind: SpanKind;
  readonly startWallMs: number;
  /** The client's span of that id is this one, seen from the other side. */
  readonly isShared: boolean;
}

/** Where spans go when they are over. */
export interface ZipkinReporter {
  report(span: ZipkinRecord): void;
}

export class ZipkinSpan implements Span {
  /** Envoy's logs are not told it either. */
  readonly spanId = '';
  readonly #context: ZipkinContext;
  readonly #parts: ZipkinSpanParts;
  readonly #reporter: ZipkinReporter;
  readonly #tags = new SpanTags();
  readonly #annotations: { readonly timestamp: number; readonly value: string }[] = [];
  #name: string;

  constructor(context: ZipkinContext, parts: ZipkinSpanParts, reporter: ZipkinReporter) {
    this.#context = context;
    this.#parts = parts;
    this.#reporter = reporter;
    this.#name = parts.operation;
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get isSampled(): boolean {
    return this.#context.isSampled;
  }

  setOperation(name: string): void {
    this.#name = name;
  }

  setTag(name: string, value: string): void {
    if (name !== '' && value !== '') this.#tags.set(name, value);
  }

  note(event: string, wallMs: number): void {
    this.#annotations.push({ timestamp: micros(wallMs), value: event });
  }

  inject(headers: HeaderMap): void {
    const context = this.#context;
    writeB3Context(headers, context, context.isSampled, context.isSingle);
    if (context.w3cState === undefined) return;
    writeTraceparent(headers, context);
    if (context.w3cState !== '') writeTracestate(headers, context.w3cState);
  }

  spawnChild(operation: string, startWallMs: number): Span {
    const context = { ...this.#context, spanId: newId64(), parentId: this.#context.spanId };
    const parts = { operation, kind: 'client', startWallMs, isShared: false } as const;
    return new ZipkinSpan(context, parts, this.#reporter);
  }

  finish(endWallMs: number): void {
    const { kind, startWallMs, isShared } = this.#parts;
    const { traceId, spanId, parentId } = this.#context;
    this.note(kind === 'client' ? 'cr' : 'ss', endWallMs);
    const timestamp = micros(startWallMs);
    this.#reporter.report({
      traceId,
      parentId,
      id: spanId,
      isClient: kind === 'client',
      name: this.#name,
      timestamp,
      duration: Math.max(1, micros(endWallMs) - timestamp),
      isShared,
      annotations: this.#annotations,
      tags: this.#tags,
    });
  }
}

function micros(wallMs: number): number {
  return Math.floor(wallMs * 1000);
}
