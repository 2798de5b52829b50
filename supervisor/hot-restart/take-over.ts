/**
 * What a starting epoch gets from the epoch before it, step by step: sockets, the admin address,
 * the statistics, and in the end its silence. A parent that disappears on the way is no failure:
 * the child makes for itself what it did not get.
 */
import { fstatSync } from 'node:fs';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import type { AdminHandOver, ChildSide, ParentAnswer } from './child-side.ts';
import type { ParentStats } from './hot-restart-message.ts';
import { HotRestartRefused } from './refusal.ts';

/** More workers than that no parent has. */
const SOCKETS_PER_ADDRESS_MAX = 1024;
/** The parent's last statistics may hold up its end by this much. */
const LAST_STATS_LIMIT_MS = 1_000;
/** A server that was told to end is gone within two seconds. */
const END_LIMIT_MS = 3_000;
const END_POLL_MS = 10;

export interface TakeOverOptions {
  readonly child: ChildSide;
  readonly clock: Clock;
  /** Such as `epoch 0 (pid 4711)`. */
  readonly parentName: string;
  readonly parentShutdownTimeMs: number;
  readonly skipStats: boolean;
  /** Whether the parent's process is still there. */
  readonly isParentHeld: () => boolean;
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => void;
}

export interface StatsReceiver {
  merge(stats: ParentStats): void;
  /** The parent is gone: what it had open counts no more. */
  end(): void;
}

export class TakeOver {
  readonly #options: TakeOverOptions;
  #isParentThere = true;
  #receiver: StatsReceiver | undefined;
  #merging: Promise<void> | undefined;
  #terminateTimer: Timer | undefined;

  constructor(options: TakeOverOptions) {
    this.#options = options;
  }

  get isParentThere(): boolean {
    return this.#isParentThere;
  }

  /**
   * All listening sockets that the parent has for an address such as `tcp://127.0.0.1:80`, each
   * once, whatever the numbers of workers are; the caller owns them. Rejects with
   * `HotRestartRefused` when the parent does not answer.
   */
  async takeSockets(address: string): Promise<readonly number[]> {
    const byInode = new Map<bigint, number>();
    try {
      for (let index = 0; index < SOCKETS_PER_ADDRESS_MAX && this.#isParentThere; index += 1) {
        const fd = this.#valueOf(await this.#options.child.takeListenSocket(address, index));
        if (fd === undefined) break;
        const { ino } = fstatSync(fd, { bigint: true });
        // A listener whose workers share one socket answers the same for each of them.
        if (byInode.has(ino)) closeDescriptor(fd);
        else byInode.set(ino, fd);
      }
    } catch (error) {
      for (const fd of byInode.values()) closeDescriptor(fd);
      throw error;
    }
    const sockets = [...byInode.values()];
    this.#options.log('debug', `${this.#options.parentName} has ${sockets.length} of ${address}`);
    return sockets;
  }

  /** From here on the admin address is free; resolves with what the parent says, if it does. */
  async shutdownAdmin(): Promise<AdminHandOver | undefined> {
    if (!this.#isParentThere) return undefined;
    const answer = await this.#options.child.shutdownParentAdmin();
    return this.#valueOf(answer);
  }

  /** Brings the parent's statistics in for the first time; later ones follow with `merge`. */
  async beginMerging(receiver: StatsReceiver): Promise<void> {
    if (this.#options.skipStats) return;
    this.#receiver = receiver;
    await this.merge();
  }

  /** Merges what the parent counted since the last time. One exchange at a time; never rejects. */
  merge(): Promise<void> {
    this.#merging ??= this.#mergeNow().finally(() => (this.#merging = undefined));
    return this.#merging;
  }

  /** The child is live: the parent stops accepting, and ends after its time. */
  async drainParent(): Promise<void> {
    if (!this.#isParentThere) return;
    const { child, clock, parentShutdownTimeMs, parentName, log } = this.#options;
    log('info', `${parentName} drains and ends in ${parentShutdownTimeMs / 1000} s`);
    if (!(await child.drainParentListeners())) return this.#parentGone();
    this.#terminateTimer = clock.after(parentShutdownTimeMs, () => void this.terminateParent());
  }

  /** Ends the parent now. Resolves when it was told. */
  async terminateParent(): Promise<void> {
    this.#terminateTimer?.cancel();
    if (!this.#isParentThere) return;
    const { clock, child, log, parentName } = this.#options;
    await Promise.race([
      this.merge(),
      new Promise<void>((resolve) => clock.after(LAST_STATS_LIMIT_MS, resolve, { unref: true })),
    ]);
    if (!this.#isParentThere) return;
    this.#isParentThere = false;
    log('info', `shutting down ${parentName}`);
    if (await child.terminateParent()) await this.#awaitEnd();
    this.#receiver?.end();
    this.#receiver = undefined;
  }

  /** What a parent of our own kind counted until its end. */
  receiveLast(stats: ParentStats): void {
    this.#receiver?.merge(stats);
  }

  /** A parent that ends late is waited for no longer than its last words matter. */
  async #awaitEnd(): Promise<void> {
    const { clock, isParentHeld, log, parentName } = this.#options;
    const deadline = clock.monotonicMs() + END_LIMIT_MS;
    const rest = (): Promise<void> =>
      new Promise((resolve) => clock.after(END_POLL_MS, resolve, { unref: true }));
    while (isParentHeld()) {
      if (clock.monotonicMs() > deadline) {
        log('warning', `${parentName} was told to end and is still there`);
        return;
      }
      await rest();
    }
    // Its last words may have come with its end, and are read in a turn of their own.
    await rest();
  }

  stop(): void {
    this.#terminateTimer?.cancel();
  }

  async #mergeNow(): Promise<void> {
    const receiver = this.#receiver;
    if (receiver === undefined || !this.#isParentThere) return;
    const { child, log, parentName } = this.#options;
    try {
      const answer = await child.parentStats();
      if (answer.outcome === 'answered') {
        receiver.merge(answer.value);
        // The parent ended while it was asked: its counters stay, what it had open does not.
        if (this.#receiver === undefined) receiver.end();
      } else if (answer.outcome === 'gone') this.#parentGone();
      else log('warning', `no statistics from ${parentName}: ${answer.outcome}`);
    } catch (error) {
      log('warning', `cannot merge the statistics of ${parentName}: ${String(error)}`);
    }
  }

  /** Undefined when the parent is gone or has nothing; throws when it is there and says nothing. */
  #valueOf<T>(answer: ParentAnswer<T>): T | undefined {
    const { parentName } = this.#options;
    switch (answer.outcome) {
      case 'answered':
        return answer.value;
      case 'gone':
        this.#parentGone();
        return undefined;
      case 'silent':
        throw new HotRestartRefused(
          `cannot take over from ${parentName}: no answer within ${answer.afterMs / 1000} s`,
        );
      case 'not_recognised':
        throw new HotRestartRefused(
          `cannot take over from ${parentName}: it is not live itself yet`,
        );
    }
  }

  #parentGone(): void {
    if (!this.#isParentThere) return;
    this.#isParentThere = false;
    this.#terminateTimer?.cancel();
    this.#receiver?.end();
    this.#options.log('warning', `${this.#options.parentName} is gone`);
  }
}
