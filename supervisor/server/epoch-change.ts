/**
 * What a hot restart means for this server: what it takes from the epoch before it, and what it
 * does when the next epoch asks. The protocol and its stages are hot-restart/'s.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import type { AdminHandOver } from '../hot-restart/child-side.ts';
import { HandOver, type HandOverServer } from '../hot-restart/hand-over.ts';
import type { ParentStats } from '../hot-restart/hot-restart-message.ts';
import type { HotRestartSession } from '../hot-restart/session.ts';
import type { StatsReceiver, TakeOver } from '../hot-restart/take-over.ts';
import type { Ending } from '../life-cycle/ending.ts';
import type { LifeCycle } from '../life-cycle/life-cycle.ts';
import type { ServerParts } from './server-parts.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';

/** Counts the epochs since the first one; a child goes on from its parent's value. */
const GENERATION = 'server.hot_restart_generation';

const log = getLogger('main');

export interface EpochChangeOptions {
  readonly session: HotRestartSession;
  readonly options: Options;
  readonly clock: Clock;
  readonly ending: Ending;
  readonly life: LifeCycle;
  readonly pool: WorkerPool;
  readonly parts: ServerParts;
  closeAdmin(): void;
  reopenAdmin(): Promise<void>;
}

export class EpochChange implements HandOverServer {
  readonly #given: EpochChangeOptions;
  readonly #handOver: HandOver;
  readonly #generation: number;
  #isChildOurs = false;
  #drain: Extract<UnansweredCommand, { readonly kind: 'drain' }> | undefined;

  constructor(given: EpochChangeOptions) {
    this.#given = given;
    const { session, clock } = given;
    this.#handOver = new HandOver({
      clock,
      server: this,
      isNextEpochThere: () => session.isNextEpochThere(),
      nextEpochGone: () => {
        session.nextEpochGone();
        given.parts.stats.forgetChild();
      },
      log: log.log,
    });
    const { store } = given.parts.stats;
    this.#generation = store.defineGauge(GENERATION);
    store.setGauge(this.#generation, 1);
    session.refusals.onCounted((kind, count) =>
      store.add(store.defineCounter(`sluice.hot_restart.${kind}`), count),
    );
  }

  /**
   * Binds the listeners and makes the admin address free, with what the epoch before has. Rejects
   * with `HotRestartRefused` or `BindError` before that epoch has changed in any way.
   */
  async takeOver(): Promise<void> {
    const { session, options, parts } = this.#given;
    const parent = await session.begin();
    if (parent === undefined) return;
    const { listeners } = parts.configuration.resolved;
    await parts.listeners.takeAll(
      listeners,
      options.concurrency,
      (address) => parent.takeSockets(address),
      () => parent.isParentThere,
    );
    session.firstStartUnixSeconds = (await parent.shutdownAdmin()) ?? session.firstStartUnixSeconds;
    parts.stats.followParent((limitMs) => this.#mergeWithin(parent, limitMs));
    await parent.beginMerging(this.#statsReceiver());
  }

  /** The server is live: the epoch before finishes, the next one may come. */
  async live(): Promise<void> {
    const { session, parts } = this.#given;
    parts.listeners.claimFiles();
    session.live(this.#handOver);
    await session.parent?.drainParent();
  }

  /** What a new worker has to be told. */
  notices(): readonly UnansweredCommand[] {
    return this.#drain === undefined ? [] : [this.#drain];
  }

  /** Whoever ends the live epoch on purpose ends the one before it, too. */
  async beginEnd({ endsParent }: { readonly endsParent: boolean }): Promise<void> {
    this.#handOver.stop();
    if (endsParent) await this.#given.session.parent?.terminateParent();
  }

  /** After the workers have ended: what they counted last. */
  async tellLast(): Promise<void> {
    if (!this.isSucceeded || !this.#isChildOurs) return;
    await this.#given.session.sendLastStats(await this.exportStats(true));
  }

  /** Sockets with which the next epoch serves on. */
  get passedSockets(): ReadonlySet<number> {
    return this.#handOver.passedSockets;
  }

  /** Whether the next epoch is live, so that the end of this one is none of the server. */
  get isSucceeded(): boolean {
    return this.#handOver.isSucceeded;
  }

  close(): void {
    this.#handOver.stop();
    this.#given.session.close();
  }

  closeAdmin(): AdminHandOver {
    this.#given.closeAdmin();
    return {
      originalStartTimeUnixSeconds: this.#given.session.firstStartUnixSeconds,
      enableReusePortDefault: true,
    };
  }

  reopenAdmin(): Promise<void> {
    return this.#given.reopenAdmin();
  }

  listenSocket(address: string, workerIndex: number): number | undefined {
    return this.#given.parts.listeners.socketFor(address, workerIndex);
  }

  async exportStats(isSluice: boolean): Promise<ParentStats> {
    const { stats, serverStats } = this.#given.parts;
    this.#isChildOurs = isSluice;
    const told = await stats.exportForChild(isSluice);
    const { heapUsed, external } = process.memoryUsage();
    return {
      ...told,
      memoryAllocated: heapUsed + external,
      numConnections: serverStats.connections,
    };
  }

  async drain(passed: ReadonlySet<number>): Promise<void> {
    const { life, pool, parts, clock, options } = this.#given;
    if (life.phase !== 'live') return;
    life.transition('draining');
    this.#drain = {
      kind: 'drain',
      startedAtNs: clock.monotonicNs(),
      immediate: options.drainStrategy === 'immediate',
    };
    pool.notify(this.#drain);
    const { listeners } = parts;
    const ended = listeners.namesBeyond(passed);
    const goesOn = listeners.names.filter((name) => !ended.includes(name));
    listeners.pause(passed);
    await Promise.all([pool.stopListening(goesOn), pool.endListening(ended)]);
  }

  async undrain(): Promise<void> {
    const { life, pool, parts } = this.#given;
    if (life.phase !== 'draining') return;
    this.#drain = undefined;
    parts.listeners.resume();
    const failures = await pool.adoptListeners();
    for (const failure of failures) log.error(`cannot listen again: ${failure}`);
    pool.notify({ kind: 'undrain' });
    life.transition('live');
  }

  terminate(reason: string): void {
    this.#given.ending.request(reason);
  }

  async terminateParent(): Promise<void> {
    await this.#given.session.parent?.terminateParent();
  }

  /** A parent that answers slowly holds up no reader; its answer still counts when it comes. */
  async #mergeWithin(parent: TakeOver, limitMs: number): Promise<void> {
    if (!parent.isParentThere) return;
    await new Promise<void>((resolve) => {
      const limit = this.#given.clock.after(limitMs, resolve);
      void parent.merge().then(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  #statsReceiver(): StatsReceiver {
    const { stats, serverStats } = this.#given.parts;
    const share = stats.parentShare();
    return {
      merge: ({ counterDeltas, gauges, areTotals, numConnections, memoryAllocated }) => {
        const shared = new Map(gauges);
        shared.delete(GENERATION);
        share.merge({ counterDeltas, gauges: shared }, areTotals);
        const generation = gauges.get(GENERATION);
        if (generation !== undefined) stats.store.setGauge(this.#generation, generation + 1);
        serverStats.setParent({ connections: numConnections, memoryBytes: memoryAllocated });
      },
      end: () => {
        share.leave();
        serverStats.setParent({ connections: 0, memoryBytes: 0 });
      },
    };
  }
}
