/**
 * One epoch's part in hot restarts, from the names that it holds to the shared memory object. It
 * decides whether there is an epoch to take over from; what is taken is take-over.ts's, what is
 * handed on is hand-over.ts's.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '../../shared/process/clock.ts';
import type { Options } from '../../shared/process/options.ts';
import { isDatagramSocketHeld } from '../../shared/posix/sockets.ts';
import { endpointAddress, sharedMemoryName, type Meeting } from './endpoint-names.ts';
import { OwnSockets } from './own-sockets.ts';
import type { ParentStats } from './hot-restart-message.ts';
import type { ParentCommands } from './parent-side.ts';
import { HotRestartRefused, sharedObjectRefused } from './refusal.ts';
import { Refusals } from './refusals.ts';
import { removeSharedObject, SharedObject, type SharedObjectRefusal } from './shared-object.ts';
import { describeHolders } from './socket-holders.ts';
import { TakeOver } from './take-over.ts';

/** An unused one of so many is found at once; failing that often has another cause. */
const DYNAMIC_ATTEMPTS = 100;
const DYNAMIC_BASE_ID_END = 0x10000000;
/** How long another epoch is given to finish its start. One that died starting never does. */
const INITIALIZING_LIMIT_MS = 2_000;
const INITIALIZING_POLL_MS = 25;

export interface SessionOptions {
  readonly options: Options;
  readonly clock: Clock;
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => void;
}

export class HotRestartSession {
  readonly baseId: number;
  /** Unix seconds at which epoch 0 started. */
  firstStartUnixSeconds: number;
  /** What came to this epoch's sockets and was thrown away. */
  readonly refusals: Refusals;
  readonly #input: SessionOptions;
  readonly #meeting: Meeting;
  readonly #sockets: OwnSockets;
  #object: SharedObject | undefined;
  #takeOver: TakeOver | undefined;
  #commands: ParentCommands | undefined;
  #hasStarted = false;
  #isClosed = false;

  private constructor(input: SessionOptions, baseId: number) {
    const { options, clock, log } = input;
    this.#input = input;
    this.baseId = baseId;
    this.firstStartUnixSeconds = Math.floor(clock.wallMs() / 1000);
    this.#meeting = { baseId, socketPath: options.socketPath };
    this.refusals = new Refusals(clock, (text) => log('warning', text));
    this.#sockets = OwnSockets.bind({
      meeting: this.#meeting,
      epoch: options.restartEpoch,
      socketMode: options.socketMode,
      clock,
      log,
      refusals: this.refusals,
      commands: () => this.#commands,
      lastStats: (stats) => this.#takeOver?.receiveLast(stats),
    });
  }

  /** Takes the names of this epoch; says nothing to anybody. Throws `HotRestartRefused`. */
  static open(input: SessionOptions): HotRestartSession {
    if (!input.options.useDynamicBaseId) {
      return new HotRestartSession(input, input.options.baseId);
    }
    let failure: unknown;
    for (let attempt = 0; attempt < DYNAMIC_ATTEMPTS; attempt += 1) {
      try {
        return new HotRestartSession(input, randomInt(DYNAMIC_BASE_ID_END));
      } catch (error) {
        if (!(error instanceof HotRestartRefused)) throw error;
        failure = error;
      }
    }
    throw new HotRestartRefused(
      `cannot find an unused base id in ${DYNAMIC_ATTEMPTS} tries: ${(failure as Error).message}`,
    );
  }

  /**
   * Call when everything is known to be good: from here on other epochs notice. Resolves with the
   * parent, undefined for a start without one; rejects with `HotRestartRefused`.
   */
  async begin(): Promise<TakeOver | undefined> {
    const { restartEpoch } = this.#input.options;
    const name = sharedMemoryName(this.baseId);
    const isParentThere = restartEpoch > 0 && isDatagramSocketHeld(this.#parentAddress());
    if (restartEpoch > 0 && !isParentThere) this.#requireNoParent();
    if (!isParentThere) {
      const opened = restartEpoch === 0 ? undefined : SharedObject.open(name);
      this.#object =
        opened instanceof SharedObject ? opened : this.#required(SharedObject.create(name));
    } else {
      this.#object = this.#required(SharedObject.open(name));
      await this.#awaitOthers(this.#object);
    }
    this.#object.markInitializing();
    this.#hasStarted = true;
    if (isParentThere) this.#takeOver = this.#makeTakeOver();
    return this.#takeOver;
  }

  /** The epoch that this one took over from. */
  get parent(): TakeOver | undefined {
    return this.#takeOver;
  }

  /** This epoch is live: it answers the next one from now on. */
  live(commands: ParentCommands): void {
    this.#commands = commands;
    this.#object?.markInitialized();
  }

  /** The next epoch died while it was starting. */
  nextEpochGone(): void {
    this.#object?.markInitialized();
  }

  /** Tells the next epoch, which is a Sluice, what was counted since its last question. */
  sendLastStats(stats: ParentStats): Promise<void> {
    return this.#sockets.parent.sendLastStats(stats);
  }

  /** Whether the next epoch holds its names. */
  isNextEpochThere(): boolean {
    return isDatagramSocketHeld(
      endpointAddress(this.#meeting, 'child', this.#input.options.restartEpoch + 1),
    );
  }

  /** Gives the names back, and the shared memory when no other epoch needs it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#takeOver?.stop();
    if (this.#hasStarted) {
      if (this.#commands === undefined) this.#object?.markInitialized();
      if (!this.#isAnotherEpochThere()) this.#removeObject();
    }
    this.#sockets.close();
  }

  #removeObject(): void {
    const name = sharedMemoryName(this.baseId);
    try {
      removeSharedObject(name);
    } catch (error) {
      this.#input.log('warning', `cannot remove shared memory region ${name}: ${String(error)}`);
    }
  }

  #required(object: SharedObject | SharedObjectRefusal): SharedObject {
    if (object instanceof SharedObject) return object;
    throw sharedObjectRefused(object, this.baseId);
  }

  #isAnotherEpochThere(): boolean {
    const { restartEpoch } = this.#input.options;
    return [restartEpoch + 1, restartEpoch + 2].some((epoch) =>
      isDatagramSocketHeld(endpointAddress(this.#meeting, 'parent', epoch)),
    );
  }

  #requireNoParent(): void {
    const { options, log } = this.#input;
    const { path } = this.#parentAddress();
    const before = options.restartEpoch - 1;
    const what = `no epoch ${before} with base id ${this.baseId} answers at ${path}`;
    if (options.skipHotRestartOnNoParent) {
      log('warning', `${what}; starting without taking over`);
      return;
    }
    this.#required(SharedObject.open(sharedMemoryName(this.baseId)));
    throw new HotRestartRefused(
      `cannot start epoch ${options.restartEpoch}: ${what} ` +
        '(start with --restart-epoch 0, or allow it with --skip-hot-restart-on-no-parent)',
    );
  }

  /** A mark that stays was left by an epoch that was killed while starting. */
  async #awaitOthers(object: SharedObject): Promise<void> {
    const { clock, log } = this.#input;
    const deadline = clock.monotonicMs() + INITIALIZING_LIMIT_MS;
    while (object.isInitializing) {
      if (clock.monotonicMs() > deadline) {
        return log('warning', 'an earlier epoch ended while it was starting; its mark is ignored');
      }
      await new Promise<void>((resolve) => clock.after(INITIALIZING_POLL_MS, resolve));
    }
  }

  #makeTakeOver(): TakeOver {
    const { options, clock, log } = this.#input;
    const holder = describeHolders(this.#parentAddress());
    const suffix = holder === undefined ? '' : ` (${holder})`;
    return new TakeOver({
      child: this.#sockets.child,
      clock,
      log,
      isParentHeld: () => isDatagramSocketHeld(this.#parentAddress()),
      parentName: `epoch ${options.restartEpoch - 1}${suffix}`,
      parentShutdownTimeMs: options.parentShutdownTimeS * 1000,
      skipStats: options.skipHotRestartParentStats,
    });
  }

  #parentAddress(): ReturnType<typeof endpointAddress> {
    const epoch = Math.max(0, this.#input.options.restartEpoch - 1);
    return endpointAddress(this.#meeting, 'parent', epoch);
  }
}
