/**
 * What the data plane takes from the worker's process: its heritage, stats, clock, notices and log.
 */
import { assert } from '../../shared/process/assert.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { Exceptions } from '../../shared/process/exceptions.ts';
import type { LogLevel } from '../../shared/logging/levels.ts';
import type { SharedPages, WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { Notice } from '../../shared/messages/worker-notices.ts';
import type { WorkerStats } from '../stats/worker-stats.ts';

/** What the data plane tells the supervisor unasked; records of a tap may be lost on their way. */
export type DataPlaneNotice = Exclude<Notice, { readonly kind: 'tap_lost' }>;

/**
 * What the data plane takes from its process: `createDataPlane(env)` in data-plane/data-plane.ts.
 */
export interface DataPlaneEnv {
  readonly heritage: WorkerHeritage;
  /** Absent where nothing is limited together with other workers. */
  readonly pages?: SharedPages;
  /** Requests are only explained: no log is opened, and no filter asks a service. */
  readonly explainsOnly?: true;
  readonly stats: WorkerStats;
  readonly clock: Clock;
  readonly exceptions: Pick<Exceptions, 'note'>;
  readonly notify: (notice: DataPlaneNotice) => void;
  /** `component` is a name of shared/logging/components.ts. Cheap when the level is off. */
  /** A line of a watched request: at debug, whatever the level. */
  readonly writeWatched?: (line: string) => void;
  readonly log: (level: LogLevel, component: string, message: string) => void;
}

export function pagesOf({ pages }: DataPlaneEnv): SharedPages {
  assert(pages !== undefined, 'a worker that serves has the memory of limits');
  return pages;
}
