/** How a worker process is started: program, arguments and environment. */
import { join } from 'node:path';
import { RUN_MODULE_FLAGS } from '../../shared/scripts/run-flags.ts';
import { builtRoot } from '../../shared/process/built-root.ts';

const entry = join(builtRoot, 'workers', 'process', 'worker-main.cjs');

/**
 * Node opens its inspector on SIGUSR1 from its first moments on, before any script could prevent
 * it, and service managers signal whole process groups. On an address that no machine has, the port
 * cannot be opened.
 */
const inspectorNowhere = '--inspect-port=240.0.0.1:9229';

/**
 * Addressed to the supervisor alone. The runtime reads the file of NODE_EXTRA_CA_CERTS before
 * anything else, 30 to 45 ms for the usual bundle of a system; a worker verifies by authorities that
 * its configuration names, and never by the runtime's.
 */
const ownVariables: readonly string[] = [
  'NODE_EXTRA_CA_CERTS',
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
  'LISTEN_FDS',
  'LISTEN_FDNAMES',
  'LISTEN_PID',
  'SLUICE_STATUS_FD',
  'SLUICE_LISTEN_FDS',
];

export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** `workerIndex` is an argument only so that lists of processes show it. */
export function workerCommand(workerIndex: number): WorkerCommand {
  const env = { ...process.env };
  for (const name of ownVariables) delete env[name];
  const inherited = process.execArgv.filter((word) => !word.startsWith('--inspect'));
  const args = [
    ...inherited,
    ...RUN_MODULE_FLAGS,
    inspectorNowhere,
    entry,
    `--worker=${workerIndex}`,
  ];
  return { file: process.execPath, args, env };
}
