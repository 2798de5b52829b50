/**
 * The place of one worker, in which one process after the other lives, and what every process that
 * comes to it has to be told.
 */
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { ListeningSockets } from '../sockets/listening-sockets.ts';
import type { WorkerHost } from './worker-host.ts';

/** What a new worker has to be told. Read again for each one, so that it gets the present state. */
export interface WorkerProvision {
  heritageOf(workerIndex: number): WorkerHeritage;
  /** 0: no watchdog. */
  readonly killTimeoutMs: number;
  resources(): readonly ResourceUpdate[];
  /** Resolves when clusters and listeners are ready for connections; never rejects. */
  readonly mayListen: Promise<unknown>;
  listeners(): readonly ListeningSockets[];
  /** Log levels, drain and health state as they are now. */
  notices(): readonly UnansweredCommand[];
}

type WorkerState = 'starting' | 'running' | 'stopping' | 'restarting';

export interface WorkerSlotStatus {
  readonly index: number;
  readonly pid: number;
  readonly state: WorkerState;
  readonly restarts: number;
}

export interface WorkerSlot {
  readonly index: number;
  host: WorkerHost;
  state: WorkerState;
  restarts: number;
  failuresInARow: number;
  /** The worker was sent the resources of its start, so that later updates may follow. */
  isProvisioned: boolean;
  /** It has its resources, so that it can check hosts. */
  canCheck: boolean;
  /** Listeners whose sockets this life has. */
  readonly adopted: Set<string>;
  /** The worker that accepts on this slot's sockets too, since the slot could not be filled. */
  helper: WorkerHost | undefined;
}

export function makeSlot(index: number, host: WorkerHost): WorkerSlot {
  return {
    index,
    host,
    state: 'starting',
    restarts: 0,
    failuresInARow: 0,
    isProvisioned: false,
    canCheck: false,
    adopted: new Set(),
    helper: undefined,
  };
}
