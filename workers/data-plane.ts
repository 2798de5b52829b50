/**
 * What the worker's receive loop (worker-main.ts) commands: everything that carries traffic.
 * Implemented once, in workers/listener/; the loop knows nothing of HTTP, the data plane nothing of
 * the channel.
 */
import type { Exceptions } from '../shared/exceptions.ts';
import type { Clock } from '../shared/clock.ts';
import type { LogLevel } from '../shared/logging/levels.ts';
import type { WorkerHeritage } from '../shared/messages/heritage.ts';
import type { SupervisorToWorker } from '../shared/messages/supervisor-to-worker.ts';
import type { Notice } from '../shared/messages/worker-notices.ts';
import type { ListenerConnections } from '../shared/messages/worker-to-supervisor.ts';
import type { BoundAddress } from '../shared/resources/listener.ts';
import type { ResourceUpdate } from '../shared/resources/resource-update.ts';
import type { WorkerStats } from './stats/worker-stats.ts';

/** What the data plane tells the supervisor unasked; records of a tap may be lost on their way. */
export type DataPlaneNotice = Exclude<Notice, { readonly kind: 'tap_lost' }>;

/** What the data plane takes from its process: `createDataPlane(env)` in listener/data-plane.ts. */
export interface DataPlaneEnv {
  readonly heritage: WorkerHeritage;
  readonly stats: WorkerStats;
  readonly clock: Clock;
  readonly exceptions: Pick<Exceptions, 'note'>;
  readonly notify: (notice: DataPlaneNotice) => void;
  /** `component` is a name of shared/logging/components.ts. Cheap when the level is off. */
  readonly log: (level: LogLevel, component: string, message: string) => void;
}

export interface ListeningDescriptor {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

export type TapCommand = Omit<Extract<SupervisorToWorker, { readonly kind: 'set_tap' }>, 'kind'>;
export type DrainCommand = Omit<Extract<SupervisorToWorker, { readonly kind: 'drain' }>, 'kind'>;

export interface DataPlane {
  /** Applies a batch whole or throws with nothing changed. */
  apply(updates: readonly ResourceUpdate[]): void;
  /** Resolves when the last batch is in force as a whole; undefined: it is. */
  readonly settled: Promise<void> | undefined;
  /** Starts accepting on descriptors for a listener that was put before; rejects on the first failure. */
  listen(listener: string, sockets: readonly ListeningDescriptor[]): Promise<void>;
  /** Closes the listening descriptors; resolves when none accepts any more. */
  /** `takesWaiting`: what waits in the sockets is taken first. */
  stopListening(listeners: readonly string[], takesWaiting: boolean): Promise<void>;
  drain(drain: DrainCommand): void;
  /** Ends the drain of these listeners, or every drain. */
  undrain(listeners?: readonly string[]): void;
  /** Open connections per listener. */
  countConnections(): readonly ListenerConnections[];
  /** Ends what is open on these listeners at once. */
  cutConnections(listeners: readonly string[]): void;
  setHealthCheckFailed(failed: boolean): void;
  setCheckingWorkers(workers: readonly number[]): void;
  /** A client's tap begins or ends. */
  setTap(tap: TapCommand): void;
  reopenLogs(): void;
  /** Cuts what is open, flushes access logs, resolves when all is written. */
  close(): Promise<void>;
}
