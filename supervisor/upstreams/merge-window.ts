/**
 * Counts how changes of a cluster's hosts would reach the threads of Envoy, which hears of
 * changes of health at most once per window. Here everybody is told at once: only the statistics of
 * `cluster_manager.` follow the window.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';

/** Counters of `cluster_manager.` */
export type MergeCounter =
  | 'cluster_updated'
  | 'cluster_updated_via_merge'
  | 'update_merge_cancelled'
  | 'update_out_of_merge_window';

export interface MergeWindowOptions {
  /** 0: nothing is merged. */
  readonly windowMs: number;
  readonly clock: Clock;
  readonly count: (counter: MergeCounter) => void;
}

export class MergeWindow {
  readonly #options: MergeWindowOptions;
  /** When the last change was published; monotonic milliseconds. */
  #publishedMs = Number.NEGATIVE_INFINITY;
  #pending: Timer | undefined = undefined;

  constructor(options: MergeWindowOptions) {
    this.#options = options;
  }

  /** The set of hosts is another, which is published at once. */
  setChanged(): void {
    if (this.#pending !== undefined) this.#options.count('update_merge_cancelled');
    this.#publish('cluster_updated');
  }

  /** Some host is healthier or less healthy than before: published when the window has passed. */
  healthChanged(): void {
    const { windowMs, clock, count } = this.#options;
    if (windowMs === 0) {
      this.#publish('cluster_updated');
      return;
    }
    if (clock.monotonicMs() - this.#publishedMs > windowMs) {
      if (this.#pending !== undefined) count('update_merge_cancelled');
      count('update_out_of_merge_window');
      this.#publish('cluster_updated');
      return;
    }
    this.#pending ??= clock.after(windowMs, () => this.#publish('cluster_updated_via_merge'));
  }

  /** The same in each priority up to this one, as Envoy counts it. */
  healthChangedUpTo(last = 0): void {
    for (let priority = 0; priority <= last; priority++) this.healthChanged();
  }

  close(): void {
    this.#pending?.cancel();
    this.#pending = undefined;
  }

  #publish(counter: MergeCounter): void {
    this.close();
    this.#publishedMs = this.#options.clock.monotonicMs();
    this.#options.count(counter);
  }
}
