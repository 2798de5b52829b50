/**
 * What a module that is an HTTP filter sees: the package export `sluice/filter`. Nothing else of the
 * program is imported here, so that its declarations stand alone.
 */
import type { StandardSchema } from './schema.ts';

export * from './schema.ts';

/** The fields of a message. Names are lower case, whatever is given. */
export interface Headers extends Iterable<readonly [name: string, value: string]> {
  /** The first value of that name. */
  get(name: string): string | undefined;
  /** Every value of that name. */
  getAll(name: string): readonly string[];
  has(name: string): boolean;
  /** Replaces every value of that name. */
  set(name: string, value: string): void;
  /** Adds a field behind the others. */
  add(name: string, value: string): void;
  /** True when there was one. */
  delete(name: string): boolean;
}

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

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

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

export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  /** SHA-256 of the certificate in lower case hex. */
  readonly fingerprint: string;
  readonly pem: string;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
}

export interface Tls {
  readonly version: string;
  readonly cipherSuite: string;
  readonly alpn: string;
  /** The client's. */
  readonly peer: Certificate | undefined;
  readonly isPeerVerified: boolean;
}

export interface Connection {
  readonly id: number;
  /** `address:port`, or a socket's path. */
  readonly remoteAddress: string;
  readonly localAddress: string;
  readonly listener: string;
  readonly serverName: string;
  /** Undefined: the connection is not encrypted. */
  readonly tls: Tls | undefined;
}

export interface Route {
  readonly name: string;
  readonly virtualHost: string;
  /** Empty: the route answers by itself. */
  readonly cluster: string;
  /** Of the route, by namespace. */
  metadata(namespace: string): unknown;
}

export interface FetchOptions {
  readonly method?: string;
  readonly path?: string;
  /** The `host` of the request; the cluster's name where it is absent. */
  readonly authority?: string;
  readonly headers?: HeaderFields;
  readonly body?: string | Uint8Array;
  /** From the end of the request to the end of the response. Default: 15,000. */
  readonly timeoutMs?: number;
  /** How often a request that failed, or was answered with 5xx, is sent again. Default: 0. */
  readonly retries?: number;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  text(): string;
  json(): unknown;
}

/** Sends a request to a cluster of the configuration. Rejects with `FetchError`. */
export type Fetch = (cluster: string, options?: FetchOptions) => Promise<FetchResponse>;

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

export interface Counter {
  add(amount?: number): void;
}

export interface Gauge {
  set(value: number): void;
  add(amount?: number): void;
  subtract(amount?: number): void;
}

export interface Histogram {
  record(value: number): void;
}

export interface SharedMapOptions {
  /** Those that were written first go when there are more. Default: 10,000; at most 100,000. */
  readonly entriesMax?: number;
}

export interface SharedSetOptions {
  /** After which the entry is gone. */
  readonly ttlMs?: number;
}

/**
 * A map that all workers have. What one writes it sees at once, and others a moment later; all see
 * changes in the same order, and the last one stays. Values are JSON, and not to be changed in place.
 */
export interface SharedMap extends Iterable<readonly [key: string, value: unknown]> {
  /** Resolves when the copy of this worker holds what the others have written before. */
  readonly ready: Promise<void>;
  readonly size: number;
  get(key: string): unknown;
  has(key: string): boolean;
  set(key: string, value: unknown, options?: SharedSetOptions): void;
  delete(key: string): void;
  /** Adds to a number, 0 where there is none, and gives the sum: none of other workers is lost. */
  add(key: string, amount?: number): Promise<number>;
}

export interface Logger {
  debug(text: string): void;
  info(text: string): void;
  warning(text: string): void;
  error(text: string): void;
}

/** What a filter's `create` is given, once in each worker. */
export interface FilterContext {
  /** As the configuration names the filter. */
  readonly name: string;
  readonly log: Logger;
  /** Of the same name: the same statistic. */
  counter(name: string): Counter;
  gauge(name: string): Gauge;
  histogram(name: string): Histogram;
  /** Of the same name: the same map, in all modules and workers. */
  shared(name: string, options?: SharedMapOptions): SharedMap;
  readonly fetch: Fetch;
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
