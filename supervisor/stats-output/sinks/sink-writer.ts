/**
 * Serves all sinks of a flush with one snapshot. A sink that fails loses its flush and is named in
 * a log line; the others are served all the same.
 */
import type { CounterLatch } from '../../stats/counter-latch.ts';
import type { EndpointStats } from '../../stats/endpoint-stats.ts';
import type { LoopTurns } from '../../loop/loop-turns.ts';
import type { OrderedView } from '../../stats/ordered-view.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import { takeSnapshot } from './flush-snapshot.ts';
import type { StatsSink } from './stats-sink.ts';

export interface SinkWriterOptions {
  readonly store: StatStore;
  readonly view: OrderedView;
  readonly turns: LoopTurns;
  readonly endpoints: EndpointStats;
  readonly boundsOf: (name: string) => readonly number[];
  makeSinks(): Promise<readonly StatsSink[]>;
  onFailure(error: unknown): void;
}

export class SinkWriter {
  readonly #options: SinkWriterOptions;
  readonly #latch: CounterLatch;
  #sinks: Promise<readonly StatsSink[]> | undefined;

  constructor(options: SinkWriterOptions) {
    this.#options = options;
    this.#latch = options.store.makeLatch();
  }

  async write(): Promise<void> {
    const { store, view, turns, endpoints, boundsOf } = this.#options;
    this.#sinks ??= this.#options.makeSinks();
    const sinks = await this.#sinks;
    const segments = await view.segments();
    const source = { store, segments, endpoints, latch: this.#latch, boundsOf };
    const snapshot = await takeSnapshot(source, turns);
    for (const sink of sinks) {
      try {
        await sink.flush(snapshot);
      } catch (error) {
        this.#options.onFailure(error);
      }
    }
  }

  /** How much of a counter the sinks have seen. */
  seenOf(index: number): number {
    return this.#latch.seen(index);
  }

  async close(): Promise<void> {
    await Promise.all(((await this.#sinks) ?? []).map(async (sink) => sink.close()));
    this.#sinks = undefined;
  }
}
