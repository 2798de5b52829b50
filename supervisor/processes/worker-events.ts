/**
 * What workers say and how their lives go, as the supervisor's other parts hear it: the pool is
 * given one object of these events, which the composition makes of those parts.
 */
import type { QuotaNotice } from '../../shared/messages/quota-steps.ts';
import type { SharedNotice } from '../../shared/messages/shared-maps.ts';
import type { Notice, ScriptNotice, WornOutNotice } from '../../shared/messages/worker-notices.ts';
import type { StatsReport } from '../../shared/stats/report.ts';
import type { WorkerExit } from './worker-process.ts';

export interface WorkerEvents {
  /** A new life begins in a slot; its reports follow. */
  spawned(workerIndex: number): void;
  /** Each report exactly once and in order, also of a flush whose deadline has passed. */
  reported(workerIndex: number, report: StatsReport): void;
  noticed(notice: ForwardedNotice): void;
  /** After the last report of that life. */
  gone(workerIndex: number, exit: WorkerExit): void;
}

/** A notice that the pool does not act on itself. */
export type ForwardedNotice = Exclude<
  Notice,
  WornOutNotice | ScriptNotice | SharedNotice | QuotaNotice
>;
