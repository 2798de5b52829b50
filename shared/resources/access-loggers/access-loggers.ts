/** Every access logger, one line each: what workers may receive and have a row for. */
import type { LogServiceConfig } from './grpc.ts';
import type { LineLogConfig } from './lines.ts';
import type { OpenTelemetryLogConfig } from './open-telemetry.ts';
import type { ScriptLogConfig } from './script.ts';

export type AccessLogConfig =
  | LineLogConfig
  | LogServiceConfig
  | OpenTelemetryLogConfig
  | ScriptLogConfig;

export type AccessLoggerKind = AccessLogConfig['kind'];

export type AccessLoggerOf<Kind extends AccessLoggerKind> = Extract<
  AccessLogConfig,
  { readonly kind: Kind }
>;
