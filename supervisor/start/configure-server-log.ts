/** Gives the log of the running process the layout that the bootstrap asks for. */
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import { withBootstrapLogFormat, type ApplicationLogConfig } from './bootstrap-log-format.ts';
import { logSettings, type LogSettings } from '../../shared/logging/log-settings.ts';
import { configureLogging } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';

/** The bootstrap's layout cannot be used; the text is Envoy's. */
class LogFormatError extends Error {
  readonly code = 'log_format_refused';
}

/**
 * Returns what workers inherit, so that all processes write alike. Throws `LogFormatError` or
 * `LogFileError`; the log then goes on as it was.
 */
export function configureServerLog(options: Options, bootstrap: Bootstrap): LogSettings {
  const config = bootstrap.application_log_config as ApplicationLogConfig | undefined;
  const result = withBootstrapLogFormat(logSettings(options), config, options.isLogFormatSet);
  if (result.kind === 'refused') throw new LogFormatError(result.reason);
  if (config !== undefined) configureLogging(result.settings);
  return result.settings;
}
