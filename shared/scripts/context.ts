/** What every kind of module sees: headers, connections, statistics, shared maps and requests. */

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

export type HeaderFields = Readonly<Record<string, string | readonly string[]>>;

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
  /** The route's metadata, by namespace. */
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

/** What `create` is given, once in each worker. */
export interface ModuleContext {
  /** As the configuration names the filter; of an access logger its `stat_prefix`. */
  readonly name: string;
  readonly log: Logger;
  /** The same name gives the same statistic. */
  counter(name: string): Counter;
  gauge(name: string): Gauge;
  histogram(name: string): Histogram;
  /** The same name gives the same map, in all modules and workers. */
  shared(name: string, options?: SharedMapOptions): SharedMap;
  readonly fetch: Fetch;
}
