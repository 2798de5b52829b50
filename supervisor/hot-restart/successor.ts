/**
 * This epoch as the one that follows another: binds the listeners with the sockets that its parent
 * has, makes the admin address free, counts on from the parent's statistics, and ends the parent
 * once it is live itself. Without a parent nothing of this happens.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { ParentStats } from './hot-restart-message.ts';
import type { HotRestartSession } from './session.ts';
import type { StatsReceiver, TakeOver } from './take-over.ts';

/** Counts the epochs since the first one; a child goes on from its parent's value. */
const GENERATION = 'server.hot_restart_generation';

/** The statistics of this epoch, as far as those of its parent are brought into them. */
interface MergedStats {
  readonly store: {
    defineGauge(name: string): number;
    setGauge(index: number, value: number): void;
  };
  followParent(merge: (limitMs: number) => Promise<void>): void;
  parentShare(): {
    merge(stats: Pick<ParentStats, 'counterDeltas' | 'gauges'>, areTotals: boolean): void;
    leave(): void;
  };
}

export interface SuccessorOptions {
  readonly session: HotRestartSession;
  readonly clock: Clock;
  readonly stats: MergedStats;
  /** What the parent has beside its statistics. */
  readonly showParent: (open: {
    readonly connections: number;
    readonly memoryBytes: number;
  }) => void;
  /** Binds the listeners with the parent's sockets. Rejects with `BindError` or as `take` does. */
  readonly bindListeners: (
    take: (address: string) => Promise<readonly number[]>,
    isParentThere: () => boolean,
  ) => Promise<void>;
  /** What an operator has ordered for hosts of the epoch before. */
  readonly takeHostOrders: (orders: string) => void;
  /** Files of unix sockets that came from the parent are this epoch's to remove. */
  readonly claimFiles: () => void;
}

export class Successor {
  readonly #options: SuccessorOptions;
  readonly #generation: number;

  constructor(options: SuccessorOptions) {
    this.#options = options;
    const { store } = options.stats;
    this.#generation = store.defineGauge(GENERATION);
    store.setGauge(this.#generation, 1);
  }

  /**
   * Takes what the epoch before has. Rejects with `HotRestartRefused` or `BindError` before that
   * epoch has changed in any way.
   */
  async takeOver(): Promise<void> {
    const { session, stats, bindListeners, takeHostOrders } = this.#options;
    const parent = await session.begin();
    if (parent === undefined) return;
    await bindListeners(
      (address) => parent.takeSockets(address),
      () => parent.isParentThere,
    );
    const handedOver = await parent.shutdownAdmin();
    session.firstStartUnixSeconds =
      handedOver?.originalStartTimeUnixSeconds ?? session.firstStartUnixSeconds;
    if (handedOver?.hostOrders !== undefined) takeHostOrders(handedOver.hostOrders);
    stats.followParent((limitMs) => this.#mergeWithin(parent, limitMs));
    await parent.beginMerging(this.#statsReceiver());
  }

  /** The server is live: the epoch before finishes what it has. */
  async live(): Promise<void> {
    this.#options.claimFiles();
    await this.#options.session.parent?.drainParent();
  }

  async endParent(): Promise<void> {
    await this.#options.session.parent?.terminateParent();
  }

  /** A parent that answers slowly holds up no reader; its answer still counts when it comes. */
  async #mergeWithin(parent: TakeOver, limitMs: number): Promise<void> {
    if (!parent.isParentThere) return;
    await new Promise<void>((resolve) => {
      const limit = this.#options.clock.after(limitMs, resolve);
      void parent.merge().then(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  #statsReceiver(): StatsReceiver {
    const { stats, showParent } = this.#options;
    const share = stats.parentShare();
    return {
      merge: ({ counterDeltas, gauges, areTotals, numConnections, memoryAllocated }) => {
        const shared = new Map(gauges);
        shared.delete(GENERATION);
        share.merge({ counterDeltas, gauges: shared }, areTotals);
        const generation = gauges.get(GENERATION);
        if (generation !== undefined) stats.store.setGauge(this.#generation, generation + 1);
        showParent({ connections: numConnections, memoryBytes: memoryAllocated });
      },
      end: () => {
        share.leave();
        showParent({ connections: 0, memoryBytes: 0 });
      },
    };
  }
}
