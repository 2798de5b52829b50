/** Segments of the SkyWalking tracer: the spans of one request, which leave together. */
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { UpstreamHostInfo } from '../../stream/stream-info.ts';
import { repairUtf8 } from '../../tap/repair-utf8.ts';
import { type Span, SpanTags } from '../span.ts';
import { type Sw8Context, writeSw8 } from './sw8-context.ts';

/** `Http` of layers, and what SkyWalking calls Envoy. */
const LAYER_HTTP = 3;
const COMPONENT = 9000;
const TYPE_EXIT = 1;
const NO_TEXT = '!';

/** Tags whose names are others here. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['http.url', 'url'],
  ['http.status_code', 'status_code'],
]);

export interface SegmentParts {
  readonly traceId: string;
  readonly segmentId: string;
  readonly parent: Sw8Context | undefined;
  readonly isSampled: boolean;
  readonly service: string;
  readonly instance: string;
  readonly endpoint: string;
  report(segment: Buffer): void;
}

export class Segment {
  readonly parts: SegmentParts;
  readonly #spans: SkyWalkingSpan[] = [];
  #open = 0;

  constructor(parts: SegmentParts) {
    this.parts = parts;
  }

  /** Its number in the segment. */
  opened(span: SkyWalkingSpan): number {
    this.#open += 1;
    return this.#spans.push(span) - 1;
  }

  finished(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    const { traceId, segmentId, service, instance } = this.parts;
    const writer = new ProtoWriter();
    writer.text(1, repairUtf8(traceId, NO_TEXT));
    writer.text(2, segmentId);
    for (const span of this.#spans) writer.message(3, () => span.write(writer));
    writer.utf8(4, service);
    writer.utf8(5, instance);
    this.parts.report(writer.finish());
  }
}

export class SkyWalkingSpan implements Span {
  readonly isSampled = true;
  readonly #segment: Segment;
  readonly #number: number;
  readonly #parent: number;
  readonly #startWallMs: number;
  readonly #tags = new SpanTags();
  readonly #logs: { readonly event: string; readonly wallMs: number }[] = [];
  #operation: string;
  #peer = '';
  #endWallMs = 0;

  /** `parent`: its number; -1 for the first one. */
  constructor(segment: Segment, operation: string, startWallMs: number, parent = -1) {
    this.#segment = segment;
    this.#operation = operation;
    this.#startWallMs = startWallMs;
    this.#parent = parent;
    this.#number = segment.opened(this);
  }

  get traceId(): string {
    return this.#segment.parts.traceId;
  }

  get spanId(): string {
    return String(this.#number);
  }

  setOperation(name: string): void {
    this.#operation = name;
  }

  setTag(name: string, value: string): void {
    if (name === 'peer.address') this.#peer = value;
    else this.#tags.set(NAMES.get(name) ?? name, value);
  }

  note(event: string, wallMs: number): void {
    this.#logs.push({ event, wallMs });
  }

  /** Only what is sent upstream as a span of its own has a context. */
  inject(headers: HeaderMap, host: UpstreamHostInfo | undefined): void {
    if (this.#parent < 0) return;
    const { traceId, segmentId, isSampled, service, instance, endpoint } = this.#segment.parts;
    const address = host?.address ?? headers.authority;
    const spanId = this.#number;
    writeSw8(headers, {
      isSampled,
      traceId,
      segmentId,
      spanId,
      service,
      instance,
      endpoint,
      address,
    });
  }

  spawnChild(operation: string, startWallMs: number): Span {
    return new SkyWalkingSpan(this.#segment, operation, startWallMs, this.#number);
  }

  finish(endWallMs: number): void {
    this.#endWallMs = endWallMs;
    this.#segment.finished();
  }

  write(writer: ProtoWriter): void {
    const { parent, isSampled } = this.#segment.parts;
    const isFirst = this.#parent < 0;
    writer.integer(1, this.#number);
    if (isFirst) writer.negative(2, this.#parent);
    else writer.integer(2, this.#parent);
    writer.integer(3, Math.floor(this.#startWallMs));
    writer.integer(4, Math.floor(this.#endWallMs));
    if (isFirst && parent !== undefined) writer.message(5, () => writeReference(writer, parent));
    writer.text(6, repairUtf8(this.#operation, NO_TEXT));
    writer.text(7, repairUtf8(this.#peer, NO_TEXT));
    writer.integer(8, isFirst ? 0 : TYPE_EXIT);
    writer.integer(9, LAYER_HTTP);
    writer.integer(10, COMPONENT);
    writer.integer(11, this.#tags.get('error') === 'true' ? 1 : 0);
    this.#tags.forEach((name, value) => writePair(writer, 12, name, value));
    for (const { event, wallMs } of this.#logs) {
      writer.message(13, () => {
        writer.integer(1, Math.floor(wallMs));
        writePair(writer, 2, '', event);
      });
    }
    writer.integer(14, isSampled ? 0 : 1);
  }
}

function writePair(writer: ProtoWriter, field: number, name: string, value: string): void {
  writer.message(field, () => {
    writer.text(1, repairUtf8(name, NO_TEXT));
    writer.text(2, repairUtf8(value, NO_TEXT));
  });
}

function writeReference(writer: ProtoWriter, parent: Sw8Context): void {
  const { traceId, segmentId, spanId, service, instance, endpoint, address } = parent;
  writer.text(2, repairUtf8(traceId, NO_TEXT));
  writer.text(3, repairUtf8(segmentId, NO_TEXT));
  writer.integer(4, spanId);
  writer.text(5, repairUtf8(service, NO_TEXT));
  writer.text(6, repairUtf8(instance, NO_TEXT));
  writer.text(7, repairUtf8(endpoint, NO_TEXT));
  writer.text(8, repairUtf8(address, NO_TEXT));
}
