/**
 * The access loggers whose entries go to a service over gRPC. Source:
 * envoy.extensions.access_loggers.grpc.v3.
 */
import type { AccessLogFilter } from '../access-log.ts';
import type { GrpcTarget } from '../grpc-target.ts';
import type { CustomTag } from '../tracing/tracing.ts';

/** Where entries of a log service go: one stream per log. */
export interface LogStream {
  readonly entries: 'http' | 'tcp';
  readonly logName: string;
  readonly target: GrpcTarget;
}

export interface LogServiceConfig {
  readonly kind: 'grpc';
  readonly stream: LogStream;
  readonly flushIntervalMs: number;
  /** Entries of so many bytes are sent at once. */
  readonly bufferBytes: number;
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
  readonly responseTrailers: readonly string[];
  readonly filterState: readonly string[];
  readonly customTags: readonly CustomTag[];
  readonly filter?: AccessLogFilter;
}
