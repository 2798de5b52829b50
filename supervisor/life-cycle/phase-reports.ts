/**
 * Tells the process above this one where the server is in its life: the restarter over its pipe, or
 * the service manager over its notify socket. Under the restarter the service manager hears nothing
 * from here.
 */
import { writeSync } from 'node:fs';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import {
  STATUS_FD_VARIABLE,
  STORE_SOCKET_VARIABLE,
  type EpochStatus,
} from '../../shared/messages/epoch-status.ts';
import { setCloseOnExec, setNonBlocking } from '../../shared/posix/descriptors.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import { serviceManager, type ServiceManager } from '../../shared/systemd/notify.ts';
import type { LifeCycle, Phase } from './life-cycle.ts';

/** How often the restarter hears that all is well; it passes it on to a watchdog. */
const ALIVE_PERIOD_MS = 2_000;

const DRAIN_PERIOD_MS = 1_000;
/** What the service manager adds to its time limit with each word, in microseconds. */
const DRAIN_EXTENSION_US = 10_000_000;

export interface PhaseReportsOptions {
  readonly life: LifeCycle;
  readonly clock: Clock;
  readonly environment: NodeJS.ProcessEnv;
  readonly restartEpoch: number;
  /** Whether every worker runs; a watchdog is kept quiet only then. */
  readonly isHealthy: () => boolean;
  /** Listening sockets for the service manager to keep. */
  readonly sockets: () => readonly { readonly name: string; readonly fds: readonly number[] }[];
  /** Whether this epoch ends because the next one serves. */
  readonly isSucceeded: () => boolean;
  /** The restarter was killed: nobody will signal this epoch or start another one. */
  readonly restarterGone: () => void;
}

export interface PhaseReports {
  /** A drain goes on: how many connections are open, and for how long at most. */
  drainProgressed(open: number, deadlineMs: number): void;
  /** Somebody asked for a reload, which the service manager waits for. */
  reloadRefused(): void;
  /**
   * The service manager gives up what it stored for a listener, so that nobody waits there in vain.
   */
  listenerChanged(name: string, fds: readonly number[]): void;
  stop(): void;
}

/** Begins to report. */
export function reportPhases(options: PhaseReportsOptions): PhaseReports {
  const toRestarter = restarterPipe(options);
  const { life } = options;
  const stopWatchdog = keepWatchdogQuiet(options, toRestarter);
  toRestarter?.({ kind: 'phase', phase: life.phase });
  const unsubscribe = life.subscribe(({ to }) => {
    toRestarter?.({ kind: 'phase', phase: to });
    toRestarter?.({ kind: 'status', text: statusText(to, options) });
    if (to === 'live') storeSockets(options);
    if (toRestarter === undefined) tellServiceManager(to, options);
  });
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    drainProgressed: (open, deadlineMs) => {
      const now = options.clock.monotonicMs();
      if (now - lastMs < DRAIN_PERIOD_MS) return;
      lastMs = now;
      tellDrain(open, deadlineMs, options, toRestarter);
    },
    reloadRefused: () => {
      if (toRestarter === undefined) tellReload(options);
    },
    listenerChanged: (name, fds) => {
      const store = storeOf(options.environment);
      store.removeDescriptors(name);
      store.storeDescriptors(name, fds);
    },
    stop: () => {
      unsubscribe();
      stopWatchdog();
    },
  };
}

/** A stop that drains first must not be cut short by the service manager's limit. */
function tellDrain(
  open: number,
  deadlineMs: number,
  { environment }: PhaseReportsOptions,
  report: Report | undefined,
): void {
  const left = Math.max(0, Math.ceil(deadlineMs / 1000));
  const text = `draining: ${open} connections open, at most ${left} s left`;
  if (report === undefined) {
    const manager = serviceManager(environment);
    manager.status(text);
    manager.extendTimeout(DRAIN_EXTENSION_US);
  } else {
    report({ kind: 'status', text });
    report({ kind: 'extend_timeout', microseconds: DRAIN_EXTENSION_US });
  }
}

/** `systemctl reload` would wait for its limit when it heard nothing. */
function tellReload({ clock, environment }: PhaseReportsOptions): void {
  const manager = serviceManager(environment);
  manager.reloading(clock.monotonicNs(), 'SIGHUP has no effect without sluice-restarter');
  manager.ready('SIGHUP had no effect: hot restarts need sluice-restarter');
}

/** Whether a service manager may keep sockets beyond the end of the server. */
export function hasDescriptorStore(environment: NodeJS.ProcessEnv): boolean {
  const { [STORE_SOCKET_VARIABLE]: store, NOTIFY_SOCKET: manager } = environment;
  return (store ?? manager ?? '') !== '';
}

/** Sockets are stored by the epoch itself, also under a restarter, which cannot pass them on. */
function storeOf(environment: NodeJS.ProcessEnv): ServiceManager {
  const { [STORE_SOCKET_VARIABLE]: path } = environment;
  return serviceManager(path === undefined ? environment : { NOTIFY_SOCKET: path });
}

type Report = (status: EpochStatus) => void;

/** Undefined when nobody listens. A restarter that is gone is no reason to end. */
function restarterPipe({ environment, restarterGone }: PhaseReportsOptions): Report | undefined {
  const fd = Number(environment[STATUS_FD_VARIABLE] ?? 0);
  if (!Number.isInteger(fd) || fd < 3) return undefined;
  try {
    setCloseOnExec(fd, true);
    setNonBlocking(fd);
  } catch (error) {
    if (error instanceof PosixError) return undefined;
    throw error;
  }
  let isOpen = true;
  return (status) => {
    if (!isOpen) return;
    try {
      writeSync(fd, `${JSON.stringify(status)}\n`);
    } catch (error) {
      // A restarter that does not read misses words; one that is gone is answered by draining.
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return;
      isOpen = false;
      restarterGone();
    }
  };
}

function keepWatchdogQuiet(options: PhaseReportsOptions, report: Report | undefined): () => void {
  const { clock, environment, life, isHealthy } = options;
  const manager = serviceManager(environment);
  const periodMs = report === undefined ? manager.watchdogPeriodMs : ALIVE_PERIOD_MS;
  if (periodMs === undefined) return () => undefined;
  const timer: Timer = clock.every(
    periodMs,
    () => {
      if (life.phase === 'live' && !isHealthy()) return;
      if (report === undefined) manager.watchdog();
      else report({ kind: 'alive' });
    },
    { unref: true },
  );
  return () => timer.cancel();
}

function storeSockets({ environment, sockets, restartEpoch }: PhaseReportsOptions): void {
  const store = storeOf(environment);
  for (const { name, fds } of sockets()) {
    // The epoch before may have had another address under the name.
    if (restartEpoch > 0) store.removeDescriptors(name);
    store.storeDescriptors(name, fds);
  }
}

function tellServiceManager(phase: Phase, options: PhaseReportsOptions): void {
  const manager = serviceManager(options.environment);
  const text = statusText(phase, options);
  switch (phase) {
    case 'live':
      // The epoch before was the main process until now.
      if (options.restartEpoch > 0) manager.mainPid(process.pid);
      return manager.ready(text);
    case 'terminating':
      return options.isSucceeded() ? undefined : manager.stopping(text);
    case 'loading':
    case 'initializing':
    case 'warming':
    case 'draining':
      return options.isSucceeded() ? undefined : manager.status(text);
    case 'ended':
      return;
  }
}

function statusText(phase: Phase, { restartEpoch }: PhaseReportsOptions): string {
  return `epoch ${restartEpoch} (pid ${process.pid}) is ${phase}`;
}
