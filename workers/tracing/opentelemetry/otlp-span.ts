/** A span of the OpenTelemetry tracer, and its form on the wire. */
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { writeAttribute } from '../../telemetry/otlp-values.ts';
import { type Span, type SpanKind, SpanTags } from '../span.ts';
import { newId64 } from '../span-ids.ts';
import { writeTraceparent, writeTracestate } from '../w3c-context.ts';

export interface OtlpContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span is a root. */
  readonly parentId: string;
  /** The parent is another process's. */
  readonly isParentRemote: boolean;
  readonly isSampled: boolean;
  readonly state: string;
}

const KINDS: Readonly<Record<SpanKind, number>> = { server: 2, client: 3 };
/** What is known of the parent, and that the span is sampled. */
const FLAGS_LOCAL = 0x101;
const FLAGS_REMOTE = 0x301;
const STATUS_ERROR = 2;
/** What a server answers for; the rest is its client's fault. */
const GRPC_SERVER_ERRORS: ReadonlySet<string> = new Set(['2', '4', '12', '13', '14', '15']);

export class OtlpSpan implements Span {
  readonly #context: OtlpContext;
  readonly #kind: SpanKind;
  readonly #startWallMs: number;
  readonly #report: (span: Buffer) => void;
  readonly #tags = new SpanTags();
  #name: string;
  #events: { readonly name: string; readonly wallMs: number }[] | undefined;

  constructor(
    context: OtlpContext,
    { operation, kind, startWallMs }: { operation: string; kind: SpanKind; startWallMs: number },
    report: (span: Buffer) => void,
  ) {
    this.#context = context;
    this.#name = operation;
    this.#kind = kind;
    this.#startWallMs = startWallMs;
    this.#report = report;
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  get isSampled(): boolean {
    return this.#context.isSampled;
  }

  setOperation(name: string): void {
    this.#name = name;
  }

  setTag(name: string, value: string): void {
    this.#tags.set(name, value);
  }

  note(name: string, wallMs: number): void {
    (this.#events ??= []).push({ name, wallMs });
  }

  inject(headers: HeaderMap): void {
    writeTraceparent(headers, this.#context);
    writeTracestate(headers, this.#context.state);
  }

  spawnChild(operation: string, startWallMs: number): Span {
    const { spanId } = this.#context;
    const context = {
      ...this.#context,
      spanId: newId64(),
      parentId: spanId,
      isParentRemote: false,
    };
    return new OtlpSpan(context, { operation, kind: 'client', startWallMs }, this.#report);
  }

  finish(endWallMs: number): void {
    const { traceId, spanId, parentId, state, isParentRemote } = this.#context;
    const writer = new ProtoWriter();
    writer.bytes(1, Buffer.from(traceId, 'hex'));
    writer.bytes(2, Buffer.from(spanId, 'hex'));
    writer.text(3, state);
    if (parentId !== '') writer.bytes(4, Buffer.from(parentId, 'hex'));
    writer.text(5, this.#name);
    writer.integer(6, KINDS[this.#kind]);
    writer.fixed64(7, nanos(this.#startWallMs));
    writer.fixed64(8, nanos(endWallMs));
    this.#tags.forEach((name, value) => writeAttribute(writer, 9, name, value));
    for (const { name, wallMs } of this.#events ?? []) {
      writer.message(11, () => {
        writer.fixed64(1, nanos(wallMs));
        writer.text(2, name);
      });
    }
    const hasFailed = this.#hasFailed();
    if (hasFailed !== undefined) {
      writer.message(15, () => writer.integer(3, hasFailed ? STATUS_ERROR : 0));
    }
    writer.fixed32(16, isParentRemote ? FLAGS_REMOTE : FLAGS_LOCAL);
    this.#report(writer.finish());
  }

  /** Undefined: there is nothing to say of it. */
  #hasFailed(): boolean | undefined {
    const grpc = this.#tags.get('grpc.status_code');
    if (grpc !== undefined) {
      return this.#kind === 'client' ? grpc !== '0' : GRPC_SERVER_ERRORS.has(grpc);
    }
    const status = Number(this.#tags.get('http.status_code') ?? '0');
    return status >= (this.#kind === 'client' ? 400 : 500) ? true : undefined;
  }
}

/** Whole microseconds: a number has no more digits. */
function nanos(wallMs: number): bigint {
  return BigInt(Math.floor(wallMs * 1000)) * 1000n;
}
