/**
 * `--enable-core-dump`: lets this process, and those it starts afterwards, leave a core file when
 * they crash. Where the file goes is the system's decision (/proc/sys/kernel/core_pattern).
 */
import { getLogger, processLog } from '../logging/process-log.ts';
import { coreFileLimit, setCoreFileLimit } from '../posix/processes.ts';

/**
 * Raises the limit on core files to its maximum, and ends this process with SIGABRT instead of exit
 * code 1 on an exception that nothing catches: Node's `--abort-on-uncaught-exception` for a process
 * that was started without it. Does nothing outside of Linux.
 * @returns whether core dumps are enabled now; false where the maximum is 0
 */
export function enableCoreDumps(): boolean {
  if (process.platform !== 'linux') return false;
  const { maximum } = coreFileLimit();
  setCoreFileLimit({ current: maximum, maximum });
  const log = getLogger('assert');
  process.on('uncaughtExceptionMonitor', (error) => {
    processLog.logStack(log, error);
    process.abort();
  });
  return maximum > 0n;
}
