/** The seam between what is traced and the tracers, which give spans their form and send them. */
import type { HeaderMap } from '../stream/header-map.ts';
import type { UpstreamHostInfo } from '../stream/stream-info.ts';

/** Spans of requests that clients send, and of what is sent upstream. */
export type SpanKind = 'server' | 'client';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Those that are not are never sent: tags need not be worked out. */
  readonly isSampled: boolean;
  setOperation(name: string): void;
  /** A later value replaces an earlier one. */
  setTag(name: string, value: string): void;
  /** An event; Unix milliseconds. */
  note(event: string, wallMs: number): void;
  /** Writes the context into a request's headers. */
  inject(headers: HeaderMap, host: UpstreamHostInfo | undefined): void;
  spawnChild(operation: string, startWallMs: number): Span;
  finish(endWallMs: number): void;
}

export interface SpanStart {
  readonly operation: string;
  readonly startWallMs: number;
  readonly kind: SpanKind;
  /** What the connection manager has decided. */
  readonly isSampled: boolean;
}

export interface Tracer {
  /** The span of a request, which its headers may make part of a trace. */
  begin(headers: HeaderMap, start: SpanStart): Span;
  /** Sends what it has. */
  release(): void;
}

/** Takes the place of a span whose trace cannot be read; the headers pass as they are. */
export const NO_SPAN: Span = {
  traceId: '',
  spanId: '',
  isSampled: false,
  setOperation: () => undefined,
  setTag: () => undefined,
  note: () => undefined,
  inject: () => undefined,
  spawnChild: () => NO_SPAN,
  finish: () => undefined,
};

/** Name, value, name, value. */
export class SpanTags {
  readonly #places = new Map<string, number>();
  readonly entries: string[] = [];

  set(name: string, value: string): void {
    const at = this.#places.get(name);
    if (at !== undefined) {
      this.entries[at + 1] = value;
      return;
    }
    this.#places.set(name, this.entries.length);
    this.entries.push(name, value);
  }

  get(name: string): string | undefined {
    const at = this.#places.get(name);
    return at === undefined ? undefined : this.entries[at + 1];
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) visit(entries[at] ?? '', entries[at + 1] ?? '');
  }
}
