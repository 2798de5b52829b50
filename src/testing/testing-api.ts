/**
 * What tests of filters see: the package export `sluice/testing`. Types alone, so that its
 * declarations name no other part of the program.
 */
import type {
  Connection,
  FilterDefinition,
  HeaderFields,
  Headers,
} from '../../shared/scripts/filter.ts';

export interface TestRequest {
  /** Default: GET, or POST with a body. */
  readonly method?: string;
  /** With the query. Default: `/`. */
  readonly path?: string;
  readonly authority?: string;
  readonly scheme?: 'http' | 'https';
  readonly headers?: HeaderFields;
  /** A list comes in so many pieces. */
  readonly body?: TestBody;
  readonly trailers?: HeaderFields;
}

export interface TestResponse {
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: HeaderFields;
  readonly body?: TestBody;
  readonly trailers?: HeaderFields;
}

export type TestBody = string | Uint8Array | readonly (string | Uint8Array)[];

/** A message as it arrived. */
export interface ReceivedMessage {
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly trailers: Headers | undefined;
  text(): string;
  json(): unknown;
}

export interface ReceivedRequest extends ReceivedMessage {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
}

/** Answers requests. What it throws is a connection that breaks off. */
export type Upstream = (
  request: ReceivedRequest,
) => TestResponse | undefined | Promise<TestResponse | undefined>;

export interface TestedRoute {
  readonly name?: string;
  readonly virtualHost?: string;
  /** Default: `upstream`. */
  readonly cluster?: string;
  /** By namespace. */
  readonly metadata?: Readonly<Record<string, object>>;
}

export interface TestOptions {
  /** What the module's schema reads. */
  readonly settings?: unknown;
  /** The filter's. Default: `test`. */
  readonly name?: string;
  /** Answers requests that pass the filter. Default: 200 without a body. */
  readonly upstream?: Upstream;
  /** Answer what the filter fetches, by cluster. */
  readonly clusters?: Readonly<Record<string, Upstream>>;
  readonly connection?: Partial<Connection>;
  readonly route?: TestedRoute;
  readonly failurePolicy?: 'FAIL_CLOSED' | 'FAIL_OPEN';
  /** Default: 15,000. */
  readonly callbackTimeoutMs?: number;
  /** The limit of one body. Default: 1 MiB. */
  readonly bufferLimitBytes?: number;
}

export interface TestResult extends ReceivedMessage {
  /** 0: the stream ended without one. */
  readonly status: number;
  /** The response broke off. */
  readonly isReset: boolean;
  /** As it left the filter; undefined: it did not. */
  readonly upstream: ReceivedRequest | undefined;
  /** What the filter has kept of the stream. */
  metadata(namespace: string, key: string): unknown;
}

export interface TestedFilter {
  /** Sends a request through the filter. */
  send(request?: TestRequest): Promise<TestResult>;
  /** Counters and gauges, of the filter (`requests`, `errors`, …) and of the module. */
  stat(name: string): number;
  /** Values of a histogram, in their order. */
  histogram(name: string): readonly number[];
  /** `level: text`, also of stacks. */
  readonly log: readonly string[];
  close(): void;
}

/**
 * Runs a filter in this process, without sockets: with the code that workers run it with. Rejects
 * when its schema refuses the settings, or its `create` throws.
 */
export declare function testFilter(
  // oxlint-disable-next-line typescript/no-explicit-any -- settings and state are the module's own
  definition: FilterDefinition<any, any>,
  options?: TestOptions,
): Promise<TestedFilter>;

export interface ServeOptions {
  readonly settings?: unknown;
  /** Answers requests that pass the filter. */
  readonly upstream?: Upstream;
  /** Answer what the filter fetches, by cluster. */
  readonly clusters?: Readonly<Record<string, Upstream>>;
  /** Number of workers. Default: 1. */
  readonly concurrency?: number;
  /** Further fields of the filter's message, such as `failure_policy`. */
  readonly fields?: object;
  /** Takes the log of the server. Default: standard error. */
  readonly onLog?: (text: string) => void;
}

export interface ServedFilter {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** The process's number. */
  readonly pid: number;
  /** One of the filter's statistics, or of its module's own. */
  stat(name: string): Promise<number>;
  admin(path: string, method?: 'GET' | 'POST'): Promise<{ status: number; body: string }>;
  close(): Promise<void>;
}

/** A server that runs the module in front of an upstream, over sockets. `file`: its path. */
export declare function serveFilter(file: string, options?: ServeOptions): Promise<ServedFilter>;
