/**
 * This epoch as the one that another follows: what it does when its child asks for sockets, the
 * admin address and statistics, when the child is live, and when the child dies. In which order a
 * child may command this is hand-over.ts's.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { AdminHandOver } from './child-side.ts';
import { HandOver, type HandOverOptions, type HandOverServer } from './hand-over.ts';
import type { ParentStats } from './hot-restart-message.ts';
import type { HotRestartSession } from './session.ts';

/** The phases of the server that a child changes. */
interface DrainablePhase {
  readonly phase: string;
  transition(to: 'draining' | 'live'): void;
}

/** The listeners of this epoch, some of whose sockets the child has too. */
interface SharedListeners {
  readonly names: readonly string[];
  namesBeyond(passed: ReadonlySet<number>): readonly string[];
  socketFor(address: string, workerIndex: number): number | undefined;
  pause(passed: ReadonlySet<number>): void;
  resume(): void;
}

interface DrainableWorkers {
  notify(command: UnansweredCommand): void;
  stopListening(names: readonly string[]): Promise<void>;
  endListening(names: readonly string[]): Promise<void>;
  /** Resolves with why some could not. */
  adoptListeners(): Promise<readonly string[]>;
}

interface ExportedStats {
  exportForChild(
    isSluice: boolean,
  ): Promise<Omit<ParentStats, 'memoryAllocated' | 'numConnections'>>;
  forgetChild(): void;
}

export interface PredecessorOptions {
  readonly session: HotRestartSession;
  readonly clock: Clock;
  readonly life: DrainablePhase;
  readonly listeners: SharedListeners;
  readonly workers: DrainableWorkers;
  readonly stats: ExportedStats;
  readonly connections: () => number;
  readonly drainsImmediately: boolean;
  /** For the next epoch; undefined: there are none. */
  readonly hostOrders: () => string | undefined;
  readonly closeAdmin: () => void;
  readonly reopenAdmin: () => Promise<void>;
  /** Ends this epoch. */
  readonly end: (reason: string) => void;
  /** Ends the epoch before this one. */
  readonly endParent: () => Promise<void>;
  readonly log: HandOverOptions['log'];
}

export class Predecessor implements HandOverServer {
  readonly #options: PredecessorOptions;
  readonly #handOver: HandOver;
  #isChildOurs = false;
  #drain: Extract<UnansweredCommand, { readonly kind: 'drain' }> | undefined;

  constructor(options: PredecessorOptions) {
    this.#options = options;
    const { session, clock, stats, log } = options;
    this.#handOver = new HandOver({
      clock,
      server: this,
      isNextEpochThere: () => session.isNextEpochThere(),
      nextEpochGone: () => {
        session.nextEpochGone();
        stats.forgetChild();
      },
      log,
    });
  }

  /** The server is live: the next epoch may come. */
  live(): void {
    this.#options.session.live(this.#handOver);
  }

  /** What a new worker has to be told. */
  notices(): readonly UnansweredCommand[] {
    return this.#drain === undefined ? [] : [this.#drain];
  }

  /** The next epoch is answered no more. */
  stop(): void {
    this.#handOver.stop();
  }

  /** After the workers have ended: what they counted last. */
  async tellLast(): Promise<void> {
    if (!this.isSucceeded || !this.#isChildOurs) return;
    await this.#options.session.sendLastStats(await this.exportStats(true));
  }

  /** Sockets with which the next epoch serves on. */
  get passedSockets(): ReadonlySet<number> {
    return this.#handOver.passedSockets;
  }

  /** Whether the next epoch is live, so that the end of this one is none of the server. */
  get isSucceeded(): boolean {
    return this.#handOver.isSucceeded;
  }

  closeAdmin(): AdminHandOver {
    this.#options.closeAdmin();
    const hostOrders = this.#options.hostOrders();
    return {
      originalStartTimeUnixSeconds: this.#options.session.firstStartUnixSeconds,
      enableReusePortDefault: true,
      ...(hostOrders !== undefined && { hostOrders }),
    };
  }

  reopenAdmin(): Promise<void> {
    return this.#options.reopenAdmin();
  }

  listenSocket(address: string, workerIndex: number): number | undefined {
    return this.#options.listeners.socketFor(address, workerIndex);
  }

  async exportStats(isSluice: boolean): Promise<ParentStats> {
    this.#isChildOurs = isSluice;
    const told = await this.#options.stats.exportForChild(isSluice);
    const { heapUsed, external } = process.memoryUsage();
    return {
      ...told,
      memoryAllocated: heapUsed + external,
      numConnections: this.#options.connections(),
    };
  }

  async drain(passed: ReadonlySet<number>): Promise<void> {
    const { life, workers, listeners, clock, drainsImmediately: immediate } = this.#options;
    if (life.phase !== 'live') return;
    life.transition('draining');
    this.#drain = { kind: 'drain', startedAtNs: clock.monotonicNs(), immediate };
    workers.notify(this.#drain);
    const ended = listeners.namesBeyond(passed);
    const goesOn = listeners.names.filter((name) => !ended.includes(name));
    listeners.pause(passed);
    await Promise.all([workers.stopListening(goesOn), workers.endListening(ended)]);
  }

  async undrain(): Promise<void> {
    const { life, workers, listeners, log } = this.#options;
    if (life.phase !== 'draining') return;
    this.#drain = undefined;
    listeners.resume();
    const failures = await workers.adoptListeners();
    for (const failure of failures) log('error', `cannot listen again: ${failure}`);
    workers.notify({ kind: 'undrain' });
    life.transition('live');
  }

  terminate(reason: string): void {
    this.#options.end(reason);
  }

  async terminateParent(): Promise<void> {
    await this.#options.endParent();
  }
}
