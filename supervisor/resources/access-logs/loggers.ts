/** Every access logger that a configuration may name, one line each. */
import type { AccessLogConfig } from '../../../shared/resources/access-loggers/access-loggers.ts';
import { ExtensionRegistry } from '../extensions.ts';
import { HTTP_GRPC_LOGGER, TCP_GRPC_LOGGER } from './loggers/grpc.ts';
import { OPENTELEMETRY_LOGGER } from './loggers/open-telemetry.ts';
import { SCRIPT_LOGGER } from './loggers/script.ts';
import { FILE_LOGGER, STDERR_LOGGER, STDOUT_LOGGER } from './loggers/lines.ts';

export const LOGGERS = new ExtensionRegistry<AccessLogConfig>(
  'envoy.access_loggers',
  'access logger',
  {
    lines: [FILE_LOGGER, STDOUT_LOGGER, STDERR_LOGGER],
    grpc: [HTTP_GRPC_LOGGER, TCP_GRPC_LOGGER],
    open_telemetry: OPENTELEMETRY_LOGGER,
    script: SCRIPT_LOGGER,
  },
);
