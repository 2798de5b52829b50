/**
 * Where a listener's present version counts. Another name in statistics makes it count elsewhere;
 * statistics of what is gone are there while it drains.
 */
import { LISTENER_EXTENSIONS } from '../../shared/stats/templates/listener.ts';
import type { WorkerStats } from '../stats/worker-stats.ts';
import type { ListenerContext } from './listener-context.ts';
import { ListenerCounts } from './listener-counts.ts';

export class ListenerStats {
  readonly #context: ListenerContext;
  #statName: string;
  /** From when connections may come. */
  #counts: ListenerCounts | undefined;
  /** What is counted before connections may come. */
  #extensions: number;

  constructor(statName: string, context: ListenerContext) {
    this.#statName = statName;
    this.#context = context;
    this.#extensions = this.#defineExtensions();
  }

  get counts(): ListenerCounts {
    return (this.#counts ??= this.#makeCounts());
  }

  /** Connections may come from now on. */
  expectConnections(): void {
    this.#counts ??= this.#makeCounts();
  }

  rename(statName: string): void {
    if (statName === this.#statName) return;
    this.end();
    this.#statName = statName;
    this.#extensions = this.#defineExtensions();
    this.#counts &&= this.#makeCounts();
  }

  /** Nothing more begins here. */
  end(): void {
    const { stats } = this.#context;
    this.#context.afterDrain(endOf(this.#counts, this.#extensions, stats));
  }

  #defineExtensions(): number {
    return this.#context.stats.defineBlock(LISTENER_EXTENSIONS, `listener.${this.#statName}.`);
  }

  #makeCounts(): ListenerCounts {
    const { stats, workerIndex } = this.#context;
    return new ListenerCounts(this.#statName, stats, workerIndex);
  }
}

/** Holds nothing else of the listener. */
function endOf(
  counts: ListenerCounts | undefined,
  extensions: number,
  stats: WorkerStats,
): () => void {
  return () => {
    counts?.end();
    stats.releaseBlock(extensions);
  };
}
