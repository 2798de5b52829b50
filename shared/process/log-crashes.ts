/** Writes what ends a process unexpectedly into its log, when that is not the terminal anyway. */
import { getLogger, processLog } from '../logging/process-log.ts';

/** Node itself prints the error on standard error, which is where the log goes without a path. */
export function logCrashes(logPath: string): void {
  if (logPath === '') return;
  const log = getLogger('assert');
  process.on('uncaughtExceptionMonitor', (error) => {
    // Who survives it writes it down.
    if (process.listenerCount('uncaughtException') === 0) processLog.logStack(log, error);
  });
}
