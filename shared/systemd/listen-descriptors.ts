/**
 * Listening sockets that the service manager made, handed to this process from descriptor 3 on by
 * systemd itself or by sluice-restarter. Source: sd_listen_fds(3).
 */
import { LISTEN_FDS_START, LISTEN_FDS_VARIABLE } from '../messages/epoch-status.ts';
import { setCloseOnExec } from '../posix/descriptors.ts';
import { PosixError } from '../posix/posix-error.ts';

/** More than any service has; keeps a mistaken variable from costing time. */
const DESCRIPTORS_MAX = 4096;

export interface ListenDescriptor {
  readonly fd: number;
  /** FileDescriptorName= of the socket unit, or the name under which a socket was stored. */
  readonly name: string;
}

/**
 * Takes them once: the variables are removed, and no process that is started later inherits the
 * descriptors. Those that are not open are left out.
 */
export function takeListenDescriptors(environment: NodeJS.ProcessEnv): readonly ListenDescriptor[] {
  const count = countOf(environment);
  const names = (environment['LISTEN_FDNAMES'] ?? '').split(':');
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', LISTEN_FDS_VARIABLE]) {
    Reflect.deleteProperty(environment, name);
  }
  return Array.from({ length: count }, (_, position) => ({
    fd: LISTEN_FDS_START + position,
    name: names[position] ?? '',
  })).filter(({ fd }) => isTaken(fd));
}

function countOf(environment: NodeJS.ProcessEnv): number {
  const reissued = environment[LISTEN_FDS_VARIABLE];
  const isOurs = environment['LISTEN_PID'] === String(process.pid);
  const count = Number(reissued ?? (isOurs ? environment['LISTEN_FDS'] : undefined) ?? 0);
  return Number.isInteger(count) && count > 0 ? Math.min(count, DESCRIPTORS_MAX) : 0;
}

function isTaken(fd: number): boolean {
  try {
    setCloseOnExec(fd, true);
    return true;
  } catch (error) {
    if (error instanceof PosixError) return false;
    throw error;
  }
}
