/**
 * What the next epoch commands this one to do, and how all of it is undone when that epoch dies: a
 * child that does not live leaves a parent that serves as before.
 */
import { assert } from '../../shared/process/assert.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { AdminHandOver } from './child-side.ts';
import type { ParentStats } from './hot-restart-message.ts';
import type { ParentCommands } from './parent-side.ts';

/** The kernel tells nobody that a datagram peer died, so its name is looked at this often. */
const WATCH_PERIOD_MS = 50;

/**
 * What the dead child held is free within moments, but not before its last descriptor is closed,
 * and any client may have got its port meanwhile.
 */
const RECOVERY_PERIOD_MS = 100;
const RECOVERY_ATTEMPTS = 600;

/** The server's side of the commands. */
export interface HandOverServer {
  closeAdmin(): AdminHandOver;
  reopenAdmin(): Promise<void>;
  /** The socket of that worker for an address such as `tcp://127.0.0.1:80`. */
  listenSocket(address: string, workerIndex: number): number | undefined;
  exportStats(isSluice: boolean): Promise<ParentStats>;
  /** Stops accepting and begins to close connections; `passed` are sockets that the child has. */
  drain(passed: ReadonlySet<number>): Promise<void>;
  undrain(): Promise<void>;
  terminate(reason: string): void;
  /** The third epoch of a row must not meet the first. */
  terminateParent(): Promise<void>;
}

export interface HandOverOptions {
  readonly clock: Clock;
  readonly server: HandOverServer;
  isNextEpochThere(): boolean;
  nextEpochGone(): void;
  readonly log: (level: 'info' | 'warning' | 'error', text: string) => void;
}

type Stage =
  | 'alone'
  /** A child is starting; this epoch serves. */
  | 'handing_over'
  /** The child is live; this epoch finishes what it has. */
  | 'draining'
  | 'ending';

export class HandOver implements ParentCommands {
  readonly #options: HandOverOptions;
  #stage: Stage = 'alone';
  #isAdminClosed = false;
  #isSucceeded = false;
  readonly #passed = new Set<number>();
  #watch: Timer | undefined;
  /** Drain and its undoing follow each other. */
  #doing: Promise<void> = Promise.resolve();

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /**
   * Whether another epoch serves on with these sockets, so that their files are not ours to remove.
   */
  get passedSockets(): ReadonlySet<number> {
    return this.#passed;
  }

  get isSucceeded(): boolean {
    return this.#isSucceeded;
  }

  shutdownAdmin(): AdminHandOver {
    this.#childSpoke();
    this.#isAdminClosed = true;
    return this.#options.server.closeAdmin();
  }

  listenSocket(address: string, workerIndex: number): number | undefined {
    this.#childSpoke();
    const fd = this.#options.server.listenSocket(address, workerIndex);
    if (fd !== undefined) this.#passed.add(fd);
    return fd;
  }

  exportStats(isSluice: boolean): Promise<ParentStats> {
    this.#childSpoke();
    return this.#options.server.exportStats(isSluice);
  }

  drainListeners(): void {
    this.#childSpoke();
    if (this.#stage !== 'handing_over') return;
    this.#stage = 'draining';
    this.#isSucceeded = true;
    this.#options.log('info', 'the next epoch is live; draining');
    this.#do(() => this.#options.server.drain(this.#passed));
  }

  terminate(): void {
    this.#stage = 'ending';
    this.#watch?.cancel();
    this.#options.server.terminate('the next epoch took over');
  }

  stop(): void {
    this.#stage = 'ending';
    this.#watch?.cancel();
  }

  #childSpoke(): void {
    if (this.#stage !== 'alone') return;
    this.#stage = 'handing_over';
    const { clock, log, server } = this.#options;
    log('info', 'the next epoch is starting');
    // Whether it is gone already makes no difference to what the child gets.
    server.terminateParent().catch((error: unknown) => this.#failed(error));
    this.#watch = clock.every(WATCH_PERIOD_MS, () => this.#look(), { unref: true });
  }

  #look(): void {
    if (this.#options.isNextEpochThere()) return;
    this.#watch?.cancel();
    const wasDraining = this.#stage === 'draining';
    assert(this.#stage !== 'alone', 'nobody is watched while alone');
    this.#options.log('warning', 'the next epoch is gone; this one serves on');
    this.#stage = 'alone';
    this.#isSucceeded = false;
    this.#passed.clear();
    this.#options.nextEpochGone();
    if (wasDraining) this.#do(() => this.#recover(() => this.#options.server.undrain()));
    if (!this.#isAdminClosed) return;
    this.#isAdminClosed = false;
    this.#do(() => this.#recover(() => this.#options.server.reopenAdmin()));
  }

  /** Tries until it succeeds; not beside another child, and not for ever. */
  async #recover(step: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await step();
      } catch (error) {
        if (attempt === RECOVERY_ATTEMPTS || this.#stage !== 'alone') throw error;
        if (attempt === 1) this.#failed(error);
      }
      await new Promise<void>((resolve) =>
        this.#options.clock.after(RECOVERY_PERIOD_MS, resolve, { unref: true }),
      );
    }
  }

  #do(step: () => Promise<void>): void {
    this.#doing = this.#doing.then(step).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    const text = errorText(error);
    this.#options.log('error', `cannot follow the next epoch: ${text}`);
  }
}
