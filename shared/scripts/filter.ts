/**
 * What a module that is an HTTP filter sees: the package export `sluice/filter`. Nothing else of the
 * program is imported here, so that its declarations stand alone.
 */
import type { Connection, Fetch, HeaderFields, Headers, ModuleContext, Route } from './context.ts';
import type { StandardSchema } from './schema.ts';

export * from './access-logger.ts';
export * from './balancer.ts';
export * from './network-filter.ts';
export * from './cluster-discovery.ts';
export * from './admin-pages.ts';
export type * from './context.ts';
export * from './schema.ts';

export type FilterContext = ModuleContext;

export interface RequestHeaders extends Headers {
  method: string;
  /** With the query. */
  path: string;
  authority: string;
  readonly scheme: string;
}

export interface ResponseHeaders extends Headers {
  status: number;
}

/** An answer of the filter's own. */
export interface Reply {
  readonly status: number;
  readonly headers?: HeaderFields;
  readonly body?: string | Uint8Array;
}

/** Nothing: the message goes on. A reply: it is the answer. */
export type HeadersResult = Reply | undefined | void;
/** Nothing: the body goes on as it is. */
export type BodyResult = string | Uint8Array | Reply | undefined | void;
/** Nothing: the piece goes on as it is. */
export type ChunkResult = string | Uint8Array | undefined | void;
type Later<Value> = Value | Promise<Value>;

/** One request and its response. */
export interface Stream<State = unknown> {
  /** Made by the filter's `state()` for this stream. */
  state: State;
  readonly request: RequestHeaders;
  /** Undefined until there is a response. */
  readonly response: ResponseHeaders | undefined;
  readonly connection: Connection;
  /** Undefined: no route fits. */
  readonly route: Route | undefined;
  readonly requestId: string;
  readonly protocol: string;
  /** The client as `x-forwarded-for` decides it. */
  readonly clientAddress: string;
  /** What filters found out of this stream, by namespace; access logs show it. */
  getMetadata(namespace: string, key: string): unknown;
  setMetadata(namespace: string, key: string, value: unknown): void;
  getFilterState(key: string): string | undefined;
  setFilterState(key: string, value: string): void;
  /** The route is chosen again, by the headers as they are now. */
  clearRoute(): void;
  readonly fetch: Fetch;
  /** Called once, unless the stream ends before. Gives what calls it off. */
  after(delayMs: number, act: () => void): () => void;
  /** Aborted when the stream ends. */
  readonly signal: AbortSignal;
}

/** What a stream came to. */
export interface StreamEnd {
  readonly status: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly durationMs: number;
  readonly details: string;
}

/** The functions of a filter. Each may be absent; each may be async, except `onEnd`. */
export interface FilterHandlers<State = unknown> {
  onRequestHeaders?(headers: RequestHeaders, stream: Stream<State>): Later<HeadersResult>;
  /** The whole body, before the headers have gone on. Not called where there is none. */
  onRequestBody?(body: Uint8Array, stream: Stream<State>): Later<BodyResult>;
  /** A piece of the body, when the headers have gone on. */
  onRequestChunk?(chunk: Uint8Array, stream: Stream<State>, isLast: boolean): Later<ChunkResult>;
  onRequestTrailers?(trailers: Headers, stream: Stream<State>): Later<void>;
  onResponseHeaders?(headers: ResponseHeaders, stream: Stream<State>): Later<HeadersResult>;
  onResponseBody?(body: Uint8Array, stream: Stream<State>): Later<BodyResult>;
  onResponseChunk?(chunk: Uint8Array, stream: Stream<State>, isLast: boolean): Later<ChunkResult>;
  onResponseTrailers?(trailers: Headers, stream: Stream<State>): Later<void>;
  /** The stream is over, whether complete or not. */
  onEnd?(stream: Stream<State>, end: StreamEnd): void;
}

export interface FilterDefinition<Settings = unknown, State = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /** Makes what the filter keeps of each stream: `stream.state`. */
  readonly state?: () => State;
  /** Called once in each worker for each filter that names the module. */
  create(
    settings: Settings,
    context: FilterContext,
  ): FilterHandlers<State> | Promise<FilterHandlers<State>>;
}

const DEFINED = Symbol.for('sluice.filter');

/** Marks what a module exports as its default. */
export function defineFilter<Settings = unknown, State = unknown>(
  definition: FilterDefinition<Settings, State>,
): FilterDefinition<Settings, State> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

/** What a module's default export must be; undefined when it is anything else. */
export function definedFilter(value: unknown): FilterDefinition | undefined {
  if (typeof value !== 'object' || value === null || !(DEFINED in value)) return undefined;
  const definition = value as unknown as FilterDefinition;
  return typeof definition.create === 'function' ? definition : undefined;
}

/** Why a request of a filter's own has no response. */
export class FetchError extends Error {
  /** What a client would be told: 504 after a timeout, 503 after a reset. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.name = 'FetchError';
    this.status = status;
  }
}
