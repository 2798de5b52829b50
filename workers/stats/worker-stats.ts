/** What a worker's parts write statistics by. Types only. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';

export interface WorkerStats extends StatWriter {
  /**
   * Blocks that are released while `action` runs stay. Returns their base indices, one for each
   * release, which the caller owes.
   */
  deferReleases(action: () => void): readonly number[];
}
