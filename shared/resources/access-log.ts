/**
 * What access loggers have in common: which requests and connections they take, and formats of
 * text, which are byte strings as header values are. Source: envoy.config.accesslog.v3.
 */
import type { CelExpression } from '../cel/expression.ts';
import type { Dictionary } from '../text/dictionary.ts';
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
  | { readonly kind: 'cel'; readonly expression: CelExpression }
  | { readonly kind: 'response_flag'; readonly flags: readonly string[] }
  | { readonly kind: 'log_type'; readonly types: readonly string[]; readonly exclude: boolean };
