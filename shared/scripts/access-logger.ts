/** What a module that is an access logger sees. */
import type { Connection, Headers, ModuleContext, Route } from './context.ts';
import type { StandardSchema } from './schema.ts';

/** Headers that have gone their way. */
export type LoggedHeaders = Pick<Headers, 'get' | 'getAll' | 'has'> &
  Iterable<readonly [name: string, value: string]>;

/** What is known of a request and its response; of TCP a connection, which has neither. */
export interface LogEntry {
  readonly method: string;
  /** With the query, as it went upstream. */
  readonly path: string;
  readonly authority: string;
  readonly protocol: string;
  readonly requestId: string;
  readonly request: LoggedHeaders | undefined;
  readonly response: LoggedHeaders | undefined;
  readonly responseTrailers: LoggedHeaders | undefined;
  /** 0: there was no answer. */
  readonly status: number;
  readonly details: string;
  /** Envoy's names, such as `UF`. */
  readonly flags: readonly string[];
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly startTime: Date;
  /** Until now where the stream is not over. */
  readonly durationMs: number;
  readonly attempts: number;
  readonly clientAddress: string;
  readonly connection: Connection;
  readonly route: Pick<Route, 'name' | 'virtualHost' | 'cluster'>;
  /** `address:port`; empty: none was chosen. */
  readonly upstreamHost: string;
  getMetadata(namespace: string, key: string): unknown;
  getFilterState(key: string): string | undefined;
}

export interface AccessLoggerHandlers {
  /** Takes what the log's filter has let through. Nobody waits for it. */
  onLog(entry: LogEntry): void | Promise<void>;
  /** The configuration that names the logger goes, or the worker ends. */
  onClose?(): void | Promise<void>;
}

export interface AccessLoggerDefinition<Settings = unknown> {
  /** Checks the settings when the configuration is loaded. Absent: there are none. */
  readonly schema?: StandardSchema<Settings>;
  /** Called once in each worker for each access log that names the module. */
  create(
    settings: Settings,
    context: ModuleContext,
  ): AccessLoggerHandlers | Promise<AccessLoggerHandlers>;
}

const DEFINED = Symbol.for('sluice.access_logger');

/** Marks what a module exports as its default. */
export function defineAccessLogger<Settings = unknown>(
  definition: AccessLoggerDefinition<Settings>,
): AccessLoggerDefinition<Settings> {
  return Object.assign({ ...definition }, { [DEFINED]: true });
}

export function isAccessLogger(value: object): value is AccessLoggerDefinition {
  return DEFINED in value;
}
