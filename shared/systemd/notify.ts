/**
 * Words to the service manager over its notify socket. Each does nothing when NOTIFY_SOCKET is not
 * set; a manager that is gone is no reason to fail, and one that is busy hears them later. Source:
 * sd_notify(3).
 */
import { systemClock } from '../process/clock.ts';
import { closeDescriptor } from '../posix/descriptors.ts';
import {
  DESCRIPTORS_PER_MESSAGE_MAX,
  sendDescriptorMessage,
} from '../posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../posix/layout.ts';
import { PosixError } from '../posix/posix-error.ts';
import type { UnixSocketAddress } from '../posix/socket-address.ts';
import { openSocket } from '../posix/sockets.ts';
import { WaitingMessages } from './waiting-messages.ts';

export interface ServiceManager {
  /** The service is up, or up again after a reload. */
  ready(status: string): void;
  /** A reload begins; `ready` ends it. */
  reloading(monotonicNs: bigint, status: string): void;
  stopping(status: string): void;
  status(text: string): void;
  /** The process to watch and to signal from now on. */
  mainPid(pid: number): void;
  /** Start, reload or stop may take this much longer. */
  extendTimeout(microseconds: number): void;
  watchdog(): void;
  /** Keeps sockets open while the service restarts; they come back under this name. */
  storeDescriptors(name: string, descriptors: readonly number[]): void;
  /** Closes what is stored under this name. */
  removeDescriptors(name: string): void;
  /**
   * Half of the watchdog's interval in milliseconds; undefined when none is set for this process.
   */
  readonly watchdogPeriodMs: number | undefined;
}

/** Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. */
export function serviceManager(environment: NodeJS.ProcessEnv): ServiceManager {
  const { NOTIFY_SOCKET: path } = environment;
  const address: UnixSocketAddress | undefined =
    path === undefined || path === '' ? undefined : { kind: 'pipe', path };
  const words = address && new WaitingMessages(systemClock, (word) => send(address, word));
  const say = (lines: readonly string[]): void => words?.say(lines.join('\n'));
  return {
    ready: (status) => say(['READY=1', `STATUS=${status}`]),
    reloading: (monotonicNs, status) =>
      say(['RELOADING=1', `MONOTONIC_USEC=${monotonicNs / 1000n}`, `STATUS=${status}`]),
    stopping: (status) => say(['STOPPING=1', `STATUS=${status}`]),
    status: (text) => say([`STATUS=${text}`]),
    mainPid: (pid) => say([`MAINPID=${pid}`]),
    extendTimeout: (microseconds) => say([`EXTEND_TIMEOUT_USEC=${microseconds}`]),
    watchdog: () => say(['WATCHDOG=1']),
    storeDescriptors: (name, descriptors) => {
      if (address === undefined || descriptors.length === 0 || !isDescriptorName(name)) return;
      const some = descriptors.slice(0, DESCRIPTORS_PER_MESSAGE_MAX);
      // Not said again: they may be closed by then, and others have their numbers.
      send(address, `FDSTORE=1\nFDNAME=${name}`, some);
    },
    removeDescriptors: (name) => {
      if (isDescriptorName(name)) say(['FDSTOREREMOVE=1', `FDNAME=${name}`]);
    },
    watchdogPeriodMs: address === undefined ? undefined : watchdogPeriodMs(environment),
  };
}

/** As sd_notify(3) wants it; sockets of other listeners are not stored. */
function isDescriptorName(name: string): boolean {
  return /^[\x20-\x39\x3b-\x7e]{1,255}$/.test(name);
}

function watchdogPeriodMs(environment: NodeJS.ProcessEnv): number | undefined {
  const { WATCHDOG_USEC: interval, WATCHDOG_PID: pid } = environment;
  if (interval === undefined || !/^[1-9][0-9]*$/.test(interval)) return undefined;
  if (pid !== undefined && pid !== String(process.pid)) return undefined;
  return Number(interval) / 2000;
}

/** False where the manager has no room for it now. */
function send(
  address: UnixSocketAddress,
  text: string,
  descriptors: readonly number[] = [],
): boolean {
  const fd = openSocket(address, SOCK_DGRAM);
  try {
    return sendDescriptorMessage(fd, Buffer.from(text), descriptors, address);
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
    return true;
  } finally {
    closeDescriptor(fd);
  }
}
