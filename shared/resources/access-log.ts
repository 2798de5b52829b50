/**
 * Access logs of listeners, connection managers and TCP proxies. Formats are byte strings, as
 * header values are, so that a line is written in latin1. Source: envoy.config.accesslog.v3.
 */
import type { Dictionary } from '../text/dictionary.ts';
import type { GrpcTarget } from './grpc-target.ts';
import type { HeaderMatcher, MetadataMatcher, RuntimeFraction } from './routes/matchers.ts';

export type AccessLogFormat =
  /**
   * A format string with its own line end, as configured; absent in the API means the default
   * format.
   */
  | { readonly kind: 'text'; readonly format: string; readonly omitEmptyValues: boolean }
  | {
      readonly kind: 'json';
      readonly fields: JsonFormatValue;
      readonly omitEmptyValues: boolean;
      readonly sortProperties: boolean;
    };

/** A JSON format: strings are substitution formats; other leaves are written as they are. */
export type JsonFormatValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonFormatValue[]
  | Dictionary<JsonFormatValue>;

export type ComparisonOp = 'EQ' | 'GE' | 'LE' | 'NE';

export type AccessLogFilter =
  | {
      readonly kind: 'status_code' | 'duration';
      readonly op: ComparisonOp;
      readonly value: number;
      readonly runtimeKey?: string;
    }
  | { readonly kind: 'not_health_check' | 'traceable' }
  | {
      readonly kind: 'runtime';
      readonly fraction: RuntimeFraction;
      readonly useIndependentRandomness: boolean;
    }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly AccessLogFilter[] }
  | { readonly kind: 'header'; readonly header: HeaderMatcher }
  /** Numbers of gRPC. */
  | {
      readonly kind: 'grpc_status';
      readonly statuses: readonly number[];
      readonly exclude: boolean;
    }
  /** `whenMissing`: the verdict where the metadata is not there. */
  | {
      readonly kind: 'metadata';
      readonly matcher?: MetadataMatcher;
      readonly whenMissing: boolean;
    }
  | { readonly kind: 'response_flag'; readonly flags: readonly string[] }
  | { readonly kind: 'log_type'; readonly types: readonly string[]; readonly exclude: boolean };

/** Lines for a file. */
export interface LineLogConfig {
  readonly sink:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'stdout' | 'stderr' };
  readonly format: AccessLogFormat;
  readonly filter?: AccessLogFilter;
}

/** Where entries of a log service go: one stream per worker's supervisor and log. */
export interface LogStream {
  readonly entries: 'http' | 'tcp';
  readonly logName: string;
  readonly target: GrpcTarget;
}

/** Entries for a service. Source: envoy.extensions.access_loggers.grpc.v3. */
export interface LogServiceConfig {
  readonly stream: LogStream;
  readonly flushIntervalMs: number;
  /** Entries of so many bytes are sent at once. */
  readonly bufferBytes: number;
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
  readonly responseTrailers: readonly string[];
  readonly filterState: readonly string[];
  readonly filter?: AccessLogFilter;
}

export type AccessLogConfig = LineLogConfig | LogServiceConfig;
