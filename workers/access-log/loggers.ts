/** Every access logger: one row each, its kind and what makes the loggers of that kind. */
import type {
  AccessLogConfig,
  AccessLoggerKind,
  AccessLoggerOf,
} from '../../shared/resources/access-loggers/access-loggers.ts';
import type { LoggerEnv, Loggers } from './logger.ts';
import { GrpcLoggers } from './loggers/grpc/grpc-loggers.ts';
import { OpenTelemetryLoggers } from './loggers/open-telemetry/otlp-loggers.ts';
import { ScriptLoggers } from './loggers/script/script-loggers.ts';
import { LineLoggers } from './loggers/lines/line-loggers.ts';

type Rows = {
  readonly [Kind in AccessLoggerKind]: (env: LoggerEnv) => Loggers<AccessLoggerOf<Kind>>;
};

const ROWS = {
  lines: (env) => new LineLoggers(env),
  grpc: (env) => new GrpcLoggers(env),
  open_telemetry: (env) => new OpenTelemetryLoggers(env),
  script: (env) => new ScriptLoggers(env),
} satisfies Rows;

/** By kind. The type of the rows has checked that each takes its kind's configuration. */
export function makeLoggers(env: LoggerEnv): ReadonlyMap<string, Loggers<AccessLogConfig>> {
  const rows = Object.entries(ROWS);
  return new Map(rows.map(([kind, make]) => [kind, make(env) as Loggers<AccessLogConfig>]));
}
