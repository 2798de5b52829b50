/**
 * Tells failures of the start that a user can mend from mistakes in the program, and reports them.
 */
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';

/** Each is the `code` of one error class. */
const codes: ReadonlySet<string> = new Set([
  'bind_failed',
  'admin_bind',
  'admin_token',
  'config_unreadable',
  'config_invalid',
  'worker_start_failed',
  'log_file_error',
  'log_format_refused',
  'runtime_layer',
  'runtime_watch',
  'unsupported_platform',
  'hot_restart_refused',
]);

const log = getLogger('main');

/**
 * An entry in the log for each mistake, and the same text on standard error where the log is a file
 * or switched off. Throws an error on that is no such failure.
 */
export function reportStartFailure(error: unknown, options: Options): void {
  if (!isStartFailure(error)) throw error;
  const isConfigured = error.code !== 'hot_restart_refused';
  const what = isConfigured ? `error initializing configuration '${options.configPath}': ` : '';
  for (const line of `${what}${error.message}`.split('\n')) log.critical(line);
  const isLogVisible = options.logPath === '' && log.isEnabled('critical');
  if (!isLogVisible) process.stderr.write(`${error.message}\n`);
}

/** A failure that the user can mend; `code` is a short name of the cause. */
export function isStartFailure(error: unknown): error is Error & { readonly code: string } {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && codes.has(error.code);
}
