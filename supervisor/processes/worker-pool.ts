/**
 * All workers of the server: one slot each, in which one process after the other lives. It spawns,
 * sets up, replaces with back-off and ends them, and sends each of them what all of them must know.
 * It decides nothing about configuration or statistics.
 */
import { errorText } from '../../shared/text/error-text.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { createBreakerPage } from '../../shared/limits/breaker-page.ts';
import { createOutlierPage } from '../../shared/limits/outlier-page.ts';
import { createRateLimitPage } from '../../shared/limits/rate-limit-page.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type {
  ProfileCommand,
  UnansweredCommand,
} from '../../shared/messages/supervisor-to-worker.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { StatsReport } from '../../shared/stats/report.ts';
import type { WaitTracer } from '../loop/contention.ts';
import { FirstStart, WorkerStartError } from './first-start.ts';
import type { ListeningSockets } from '../sockets/listening-sockets.ts';
import { WorkerHost, type WorkerExit } from './worker-host.ts';
import type { LogNotice, TapNotice, UpstreamNotice } from '../../shared/messages/worker-notices.ts';
import type { SharedPages } from './worker-process.ts';

const BACK_OFF_FIRST_MS = 200;
const BACK_OFF_MAX_MS = 10_000;
/** A worker that lived this long is replaced at once. */
const STABLE_LIFE_MS = 10_000;
/**
 * How long connections of a worn out worker have, with another worker that accepts, and without
 * one.
 */
const RETIRE_LIMIT_MS = 10_000;
const RETIRE_ALONE_LIMIT_MS = 2_000;
const RETIRE_LOOK_MS = 200;
const RETIRE_STOP_LIMIT_MS = 2_000;
const COUNT_LIMIT_MS = 1_000;

/** What a new worker has to be told. Read again for each one, so that it gets the present state. */
export interface WorkerProvision {
  heritageOf(workerIndex: number): WorkerHeritage;
  /** 0: no watchdog. */
  readonly killTimeoutMs: number;
  resources(): readonly ResourceUpdate[];
  /** Resolves when clusters and listeners are ready for connections; never rejects. */
  readonly mayListen: Promise<unknown>;
  listeners(): readonly ListeningSockets[];
  /** Log levels, drain and health state as they are now. */
  notices(): readonly UnansweredCommand[];
}

export interface WorkerPoolOptions {
  readonly concurrency: number;
  readonly clock: Clock;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
  /** A new life begins in a slot; its reports follow. */
  onSpawned(workerIndex: number): void;
  onReport(workerIndex: number, report: StatsReport): void;
  onUpstreamNotice(notice: UpstreamNotice): void;
  onTapped(notice: TapNotice): void;
  onLogEntries(notice: LogNotice): void;
  /** After the last report of that life. */
  onGone(workerIndex: number, exit: WorkerExit): void;
}

type WorkerState = 'starting' | 'running' | 'stopping' | 'restarting';

export interface WorkerSlotStatus {
  readonly index: number;
  readonly pid: number;
  readonly state: WorkerState;
  readonly restarts: number;
}

interface Slot {
  readonly index: number;
  host: WorkerHost;
  state: WorkerState;
  restarts: number;
  failuresInARow: number;
  /** The worker was sent the resources of its start, so that later updates may follow. */
  isProvisioned: boolean;
  /** It has its resources, so that it can check hosts. */
  canCheck: boolean;
  /** Listeners whose sockets this life has. */
  adopted: Set<string>;
  /** The worker that accepts on this slot's sockets too, since the slot could not be filled. */
  helper: WorkerHost | undefined;
}

export class WorkerPool {
  /** Shared memory that every worker inherits. */
  readonly pages: SharedPages;
  readonly #options: WorkerPoolOptions;
  readonly #slots: Slot[] = [];
  #traceWait: WaitTracer = async (work) => await work();
  readonly #first: FirstStart;
  #provision: WorkerProvision | undefined;
  #begin: ((provision: WorkerProvision) => void) | undefined;
  readonly #begun: Promise<WorkerProvision>;
  readonly #waits = new Set<() => void>();
  /** Updates that some workers have and that the provision may not have yet. */
  readonly #underWay = new Set<readonly ResourceUpdate[]>();
  #isStopping = false;
  #retiring: Promise<void> = Promise.resolve();

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.pages = {
      outlierFd: createOutlierPage(),
      breakerFd: createBreakerPage(options.concurrency),
      rateLimitFd: createRateLimitPage(),
    };
    this.#first = new FirstStart(options.concurrency);
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  /** Makes the processes; they load themselves while the configuration is read. */
  spawn(): void {
    for (let index = 0; index < this.#options.concurrency; index += 1) {
      const slot: Slot = {
        index,
        host: this.#spawnHost(index),
        state: 'starting',
        restarts: 0,
        failuresInARow: 0,
        isProvisioned: false,
        canCheck: false,
        adopted: new Set(),
        helper: undefined,
      };
      this.#slots.push(slot);
      void this.#keepAlive(slot);
    }
  }

  /**
   * Sets every worker up and resolves when all of them accept connections. Rejects with
   * `WorkerStartError` when one refuses the configuration or cannot be started.
   */
  async start(provision: WorkerProvision): Promise<void> {
    this.#provision = provision;
    this.#begin?.(provision);
    await this.#first.done;
  }

  /** What waits for a worker's reply goes through it from now on. */
  traceWaits(trace: WaitTracer): void {
    this.#traceWait = trace;
  }

  /** Sends a batch to all; resolves with one text per worker that could not apply it. */
  async apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]> {
    this.#underWay.add(updates);
    const answers = await Promise.all(
      this.#provisioned().map(async ({ host }) =>
        this.#traceWait(async () => await host.apply(updates)).catch(() => undefined),
      ),
    );
    // The caller notes what is in force now right after this.
    setImmediate(() => this.#underWay.delete(updates));
    return answers.filter((answer) => answer !== undefined);
  }

  /** Sends a few small updates to all that nobody waits for; the provision has them already. */
  tell(updates: readonly ResourceUpdate[]): void {
    for (const { host } of this.#provisioned()) host.tell(updates);
  }

  /** Hands out the sockets of listeners that are new in the provision. */
  async adoptListeners(): Promise<readonly string[]> {
    const answers = await Promise.all(
      this.#provisioned().map(async (slot) => this.#adopt(slot).catch(() => undefined)),
    );
    return answers.filter((answer) => answer !== undefined);
  }

  /** What waits in the sockets stays there: for another epoch, or for a time with less to do. */
  async stopListening(listeners: readonly string[]): Promise<void> {
    await this.#stopListening(listeners, false);
  }

  /**
   * Workers take what waits in the sockets first: nobody else will. Their owner has closed its
   * copies.
   */
  async endListening(listeners: readonly string[]): Promise<void> {
    await this.#stopListening(listeners, true);
  }

  async #stopListening(listeners: readonly string[], takesWaiting: boolean): Promise<void> {
    if (listeners.length === 0) return;
    await Promise.all(
      this.#provisioned().map(async ({ host, adopted }) => {
        listeners.forEach((listener) => adopted.delete(listener));
        // A worker that ends in between listens no more either.
        await host.stopListening(listeners, takesWaiting).catch(() => undefined);
      }),
    );
  }

  notify(notice: UnansweredCommand): void {
    for (const { host } of this.#provisioned()) host.notify(notice);
  }

  /** Collects everybody's deltas; resolves with the workers that did not answer in time. */
  async flushStats(limitMs: number): Promise<readonly number[]> {
    const late = await Promise.all(
      this.#provisioned().map(async ({ index, host }) =>
        this.#traceWait(async () => await host.flushStats(limitMs)).then(
          () => undefined,
          () => index,
        ),
      ),
    );
    return late.filter((index) => index !== undefined);
  }

  /** What each worker has open; undefined for one that did not answer in time. */
  async countConnections(
    limitMs: number,
  ): Promise<readonly (readonly ListenerConnections[] | undefined)[]> {
    return await Promise.all(
      this.#provisioned().map(async ({ host }) =>
        host.countConnections(limitMs).catch(() => undefined),
      ),
    );
  }

  /** Commands every worker's profiler; resolves with the indices of those that obeyed. */
  async profile(
    command: ProfileCommand,
    pathOf: (index: number) => string,
  ): Promise<readonly number[]> {
    const done = await Promise.all(
      this.#provisioned().map(async ({ index, host }) => {
        // A worker that ends in between has no profile.
        const failure = await host.profile(command, pathOf(index)).catch(String);
        return failure === undefined ? index : undefined;
      }),
    );
    return done.filter((index) => index !== undefined);
  }

  status(): readonly WorkerSlotStatus[] {
    return this.#slots.map(({ index, host, state, restarts }) => ({
      index,
      pid: host.pid,
      state,
      restarts,
    }));
  }

  /** Ends all workers, each within `limitMs`; resolves when none is left. */
  async stop(limitMs: number): Promise<void> {
    this.#beginStop();
    await Promise.all(
      this.#slots.map(async (slot) => {
        slot.state = 'stopping';
        await slot.host.stop(limitMs);
      }),
    );
  }

  /** Ends all workers without asking. */
  kill(): void {
    this.#beginStop();
    for (const { host } of this.#slots) host.kill('asked');
  }

  #beginStop(): void {
    this.#isStopping = true;
    this.#first.fail(new WorkerStartError('the server was told to end'));
    for (const wake of this.#waits) wake();
  }

  #provisioned(): readonly Slot[] {
    return this.#slots.filter(({ isProvisioned }) => isProvisioned);
  }

  #spawnHost(index: number): WorkerHost {
    this.#options.onSpawned(index);
    return new WorkerHost({
      workerIndex: index,
      clock: this.#options.clock,
      pages: this.pages,
      log: (level, text) => this.#options.log(level, text),
      onReport: (report) => this.#options.onReport(index, report),
      onUpstreamNotice: (notice) => this.#options.onUpstreamNotice(notice),
      onTapped: (notice) => this.#options.onTapped(notice),
      onLogEntries: (notice) => this.#options.onLogEntries(notice),
      onWornOut: (exceptions) => {
        const slot = this.#slots[index];
        if (slot === undefined) return;
        // One at a time, so that another one accepts meanwhile.
        this.#retiring = this.#retiring.then(async () => this.#retire(slot, exceptions));
      },
    });
  }

  /**
   * Replaces a worker that has thrown too often, as gently as there is time for: others accept in
   * its place, its connections are asked to end, and what is left is cut with it.
   */
  async #retire(slot: Slot, exceptions: number): Promise<void> {
    const { host } = slot;
    if (slot.state !== 'running') return;
    slot.state = 'restarting';
    const name = `worker ${slot.index} (pid ${host.pid})`;
    this.#options.log('error', `${name} caught ${exceptions} exceptions; it is replaced`);
    const { clock } = this.#options;
    host.notify({ kind: 'drain', startedAtNs: clock.monotonicNs(), immediate: true });
    const isCovered = await this.#lendSockets(slot);
    if (isCovered) await host.stopListening([...slot.adopted], false).catch(() => undefined);
    const untilMs = clock.monotonicMs() + (isCovered ? RETIRE_LIMIT_MS : RETIRE_ALONE_LIMIT_MS);
    while (clock.monotonicMs() < untilMs && !this.#isStopping && slot.host === host) {
      const listeners = await host.countConnections(COUNT_LIMIT_MS).catch(() => []);
      if (listeners.every(({ open }) => open === 0)) break;
      await this.#wait(RETIRE_LOOK_MS);
    }
    await host.stop(RETIRE_STOP_LIMIT_MS, 'worn_out');
    const backMs = clock.monotonicMs() + RETIRE_LIMIT_MS;
    while (!isRunning(slot) && clock.monotonicMs() < backMs && !this.#isStopping) {
      await this.#wait(RETIRE_LOOK_MS);
    }
  }

  /** The life of a slot: one process after the other until the pool stops. */
  async #keepAlive(slot: Slot): Promise<void> {
    for (;;) {
      await this.#setUp(slot);
      const exit = await slot.host.exited;
      slot.isProvisioned = false;
      this.#setChecking(slot, false);
      slot.adopted.clear();
      this.#options.onGone(slot.index, exit);
      if (this.#isStopping) return;
      slot.state = 'restarting';
      slot.failuresInARow = exit.livedMs >= STABLE_LIFE_MS ? 1 : slot.failuresInARow + 1;
      this.#first.countFailure(slot.index, slot.failuresInARow);
      const delayMs = backOffMs(slot.failuresInARow);
      const how = exit.signal ?? `exit code ${exit.code}`;
      this.#options.log(
        'error',
        `worker ${slot.index} (pid ${slot.host.pid}) ended unasked (${exit.reason}, ${how}) ` +
          `after ${Math.round(exit.livedMs)} ms; it is replaced in ${delayMs} ms`,
      );
      if (slot.failuresInARow > 1) await this.#lendSockets(slot);
      await this.#wait(delayMs);
      if (this.#isStopping) return;
      slot.restarts += 1;
      slot.state = 'starting';
      slot.host = this.#spawnHost(slot.index);
    }
  }

  async #setUp(slot: Slot): Promise<void> {
    const { host } = slot;
    try {
      const provision = await Promise.race([this.#begun, host.exited.then(() => undefined)]);
      if (provision === undefined || this.#isStopping) return;
      await host.start(provision.heritageOf(slot.index), provision.killTimeoutMs);
      // From here on updates follow the snapshot on the same channel.
      slot.isProvisioned = true;
      const applied = host.apply(provision.resources());
      for (const updates of this.#underWay) void host.apply(updates).catch(() => undefined);
      const refusal = await applied;
      if (refusal !== undefined) throw new WorkerStartError(refusal);
      await this.#first.applied(slot.index);
      this.#setChecking(slot, true);
      await Promise.race([provision.mayListen, host.exited]);
      for (const sockets of provision.listeners()) sockets.listen();
      const failure = await this.#adopt(slot);
      if (failure !== undefined) throw new WorkerStartError(failure);
      for (const notice of provision.notices()) host.notify(notice);
      slot.state = 'running';
      this.#first.running(slot.index);
      if (slot.restarts > 0) {
        this.#options.log('info', `worker ${slot.index} (pid ${host.pid}) serves again`);
      }
    } catch (error) {
      if (this.#isStopping) return;
      const text = errorText(error);
      this.#options.log('error', `cannot set up worker ${slot.index}: ${text}`);
      if (error instanceof WorkerStartError) this.#first.fail(error);
      host.kill('start_failed');
    }
  }

  /** Tells all who shares the active checks; once for all changes of a turn of the loop. */
  #setChecking(slot: Slot, canCheck: boolean): void {
    if (slot.canCheck === canCheck) return;
    slot.canCheck = canCheck;
    setImmediate(() => {
      const workers = this.#slots.filter((each) => each.canCheck).map(({ index }) => index);
      if (!this.#isStopping) this.notify({ kind: 'set_checking_workers', workers });
    });
  }

  async #adopt(slot: Slot): Promise<string | undefined> {
    for (const sockets of this.#provision?.listeners() ?? []) {
      if (slot.adopted.has(sockets.listener)) continue;
      slot.adopted.add(sockets.listener);
      const handed = sockets.socketsOf(slot.index);
      const failure = await slot.host.adoptSockets(sockets.listener, handed);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  /**
   * Connections would wait in the sockets of a slot that stays empty, so another worker accepts on
   * them too, from then on for as long as it lives.
   */
  async #lendSockets(slot: Slot): Promise<boolean> {
    const helper = this.#slots.find(({ state }) => state === 'running')?.host;
    if (helper === undefined) return false;
    if (slot.helper === helper) return true;
    slot.helper = helper;
    for (const sockets of this.#provision?.listeners() ?? []) {
      const own = sockets.socketsOf(helper.workerIndex).map(({ fd }) => fd);
      const lent = sockets.socketsOf(slot.index).filter(({ fd }) => !own.includes(fd));
      if (lent.length === 0) continue;
      // A helper that ends meanwhile is replaced; the next failure finds another one.
      await helper.adoptSockets(sockets.listener, lent).catch(() => undefined);
    }
    this.#options.log('info', `worker ${helper.workerIndex} accepts for worker ${slot.index} too`);
    return true;
  }

  /** Resolves after the time, or as soon as the pool stops. */
  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#waits.delete(wake);
        resolve();
      };
      const timer: Timer = this.#options.clock.after(delayMs, wake);
      this.#waits.add(wake);
    });
  }
}

function isRunning({ state }: Slot): boolean {
  return state === 'running';
}

/** 0, then 200 ms and twice as long each time, up to 10 s. */
function backOffMs(failuresInARow: number): number {
  if (failuresInARow <= 1) return 0;
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (failuresInARow - 2));
}
