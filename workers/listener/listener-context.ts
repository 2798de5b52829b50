/** What the listeners of a worker share. */
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { Address } from '../net/connection-info.ts';
import type { WorkerStats } from '../stats/worker-stats.ts';
import type { ConnectionIntake } from './connection-intake.ts';
import type { ConnectionLimits } from './connection-limits.ts';

export interface ListenerContext {
  readonly loop: WorkerLoop;
  readonly stats: WorkerStats;
  readonly workerIndex: number;
  readonly limits: ConnectionLimits;
  readonly overload: OverloadGate;
  /** The listener of an address that a connection was meant for, bound or not. */
  listenerOf(address: Address): { readonly intake: ConnectionIntake } | undefined;
  /** When what drains from now on is over. */
  afterDrain(action: () => void): void;
}
