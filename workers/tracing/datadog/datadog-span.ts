/** Spans of the Datadog tracer. Those of one request leave together, when the last has ended. */
import { Packr } from '../../../shared/channel/msgpack.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { type Span, SpanTags } from '../span.ts';
import { newId64 } from '../span-ids.ts';
import { type DatadogPlace, hex64, writeDatadogContext } from './datadog-context.ts';

const SPAN_NAME = 'envoy.proxy';

/** What all spans of one tracer have in common. */
export interface DatadogReporter {
  readonly serviceName: string;
  readonly version: string;
  readonly runtimeId: string;
  report(trace: Buffer): void;
}

const packr = new Packr({ useRecords: false, mapsAsObjects: false, encodeUndefinedAsNil: true });

/** The spans of one request. */
export class DatadogTrace {
  readonly reporter: DatadogReporter;
  readonly place: Omit<DatadogPlace, 'spanId'>;
  /** Nobody before has decided: the agent is told by what share. */
  readonly #isOwnDecision: boolean;
  readonly #finished: Map<string, unknown>[] = [];
  #open = 0;

  constructor(
    reporter: DatadogReporter,
    place: Omit<DatadogPlace, 'spanId'>,
    isOwnDecision: boolean,
  ) {
    this.reporter = reporter;
    this.place = place;
    this.#isOwnDecision = isOwnDecision;
  }

  opened(): void {
    this.#open += 1;
  }

  finished(span: Map<string, unknown>, isFirst: boolean): void {
    if (isFirst) {
      this.#describe(span);
      this.#finished.unshift(span);
    } else this.#finished.push(span);
    this.#open -= 1;
    if (this.#open === 0) this.reporter.report(packr.pack(this.#finished));
  }

  /** The first span tells of the trace. */
  #describe(span: Map<string, unknown>): void {
    const meta = span.get('meta') as Map<string, string>;
    const metrics = span.get('metrics') as Map<string, number>;
    const { priority, traceHigh, tags } = this.place;
    metrics.set('_sampling_priority_v1', priority);
    if (this.#isOwnDecision) metrics.set('_dd.agent_psr', 1);
    if (traceHigh !== '') meta.set('_dd.p.tid', traceHigh);
    for (const [name, value] of tags) meta.set(name, value);
  }
}

export class DatadogSpan implements Span {
  readonly isSampled = true;
  readonly #trace: DatadogTrace;
  readonly #id: bigint;
  readonly #parentId: bigint;
  readonly #startWallMs: number;
  readonly #isFirst: boolean;
  readonly #tags = new SpanTags();
  #resource: string;

  constructor(
    trace: DatadogTrace,
    ids: { readonly id: bigint; readonly parentId: bigint; readonly isFirst: boolean },
    operation: string,
    startWallMs: number,
  ) {
    this.#trace = trace;
    this.#id = ids.id;
    this.#parentId = ids.parentId;
    this.#isFirst = ids.isFirst;
    this.#resource = operation;
    this.#startWallMs = startWallMs;
    trace.opened();
  }

  get traceId(): string {
    const { traceHigh, traceLow } = this.#trace.place;
    return traceHigh + hex64(traceLow);
  }

  get spanId(): string {
    return hex64(this.#id);
  }

  setOperation(name: string): void {
    this.#resource = name;
  }

  setTag(name: string, value: string): void {
    if (name !== 'error') this.#tags.set(name, value);
    else if (value !== 'false') this.#isError = true;
  }

  #isError = false;

  note(): void {
    // Datadog has no events of spans.
  }

  inject(headers: HeaderMap): void {
    writeDatadogContext(headers, { ...this.#trace.place, spanId: this.#id });
  }

  spawnChild(operation: string, startWallMs: number): Span {
    const ids = { id: BigInt(`0x${newId64()}`), parentId: this.#id, isFirst: false };
    return new DatadogSpan(this.#trace, ids, operation, startWallMs);
  }

  finish(endWallMs: number): void {
    const { serviceName, version, runtimeId } = this.#trace.reporter;
    const meta = new Map<string, string>([
      ['language', 'cpp'],
      ['runtime-id', runtimeId],
      ['version', version],
    ]);
    this.#tags.forEach((name, value) => meta.set(name, utf8(value)));
    const start = nanos(this.#startWallMs);
    const span = new Map<string, unknown>([
      ['service', serviceName],
      ['name', SPAN_NAME],
      ['resource', utf8(this.#resource)],
      ['trace_id', this.#trace.place.traceLow],
      ['span_id', this.#id],
      ['parent_id', this.#parentId],
      ['start', start],
      ['duration', nanos(endWallMs) - start],
      ['error', this.#isError ? 1 : 0],
      ['meta', meta],
      ['metrics', new Map([['process_id', process.pid]])],
      ['type', 'web'],
    ]);
    this.#trace.finished(span, this.#isFirst);
  }
}

/** Texts of messages have one character per byte. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

function nanos(wallMs: number): bigint {
  return BigInt(Math.floor(wallMs * 1000)) * 1000n;
}
