/**
 * A version of a listener that was replaced or removed. What serves connections goes with the last
 * of them, at once where there are none; what the version counts is there until its drain is over,
 * so that of a version that only drains little more is kept than where it counted.
 */
import type { WorkerStats } from '../stats/worker-stats.ts';

export class RetiredVersion {
  readonly #stats: WorkerStats;
  /** Until nothing is served by it any more. */
  #release: (() => void) | undefined;
  /** Blocks to release when the drain is over; undefined: it is. */
  #blocks: readonly number[] | undefined = [];

  /** `release` lets go of everything. */
  constructor(release: () => void, stats: WorkerStats) {
    this.#release = release;
    this.#stats = stats;
  }

  /** No connection uses it any more. */
  unused(): void {
    const release = this.#release;
    if (release === undefined) return;
    this.#release = undefined;
    if (this.#blocks === undefined) release();
    else this.#blocks = this.#stats.deferReleases(release);
  }

  drained(): void {
    for (const base of this.#blocks ?? []) this.#stats.releaseBlock(base);
    this.#blocks = undefined;
  }
}
