/**
 * The lives of all workers: one slot each, in which one process after the other is made, set up and
 * replaced with back-off until all are stopped. What workers are commanded meanwhile is
 * worker-pool.ts's.
 */
import { errorText } from '../../shared/text/error-text.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { Notice, ScriptNotice } from '../../shared/messages/worker-notices.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import { LoopTurns } from '../loop/loop-turns.ts';
import type { EarlyWorkers } from './early-workers.ts';
import { FirstStart, WorkerStartError } from './first-start.ts';
import { adoptSockets, lendSockets } from './slot-sockets.ts';
import { StoppableWaits } from './stoppable-waits.ts';
import { QuotaGroups } from './quota-groups.ts';
import { SharedMaps } from './shared-maps.ts';
import { ScriptWatch } from './script-watch.ts';
import type { WorkerEvents } from './worker-events.ts';
import { WorkerHost } from './worker-host.ts';
import type { SharedPages } from '../../shared/messages/heritage.ts';
import { Retirement } from './worker-retirement.ts';
import { makeSlot, type WorkerProvision, type WorkerSlot } from './worker-slot.ts';

const BACK_OFF_FIRST_MS = 200;
const BACK_OFF_MAX_MS = 10_000;
/** A worker that lived this long is replaced at once. */
const STABLE_LIFE_MS = 10_000;

export interface WorkerLivesOptions {
  readonly concurrency: number;
  readonly clock: Clock;
  readonly pages: SharedPages;
  /** Those that were made before this server was. */
  readonly early: EarlyWorkers;
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => void;
  /** Updates that some workers have and that the provision may not have yet. */
  readonly underWay: Iterable<readonly ResourceUpdate[]>;
}

export class WorkerLives {
  readonly slots: WorkerSlot[] = [];
  readonly #options: WorkerLivesOptions;
  readonly #first: FirstStart;
  readonly #waits: StoppableWaits;
  readonly #retirement: Retirement;
  readonly #scripts: ScriptWatch;
  readonly #maps: SharedMaps;
  readonly #quotas: QuotaGroups;
  /** In which large batches are packed. */
  readonly #turns: LoopTurns;
  #events: WorkerEvents | undefined;
  #provision: WorkerProvision | undefined;
  #begin: ((provision: WorkerProvision) => void) | undefined;
  readonly #begun: Promise<WorkerProvision>;

  constructor(options: WorkerLivesOptions) {
    this.#options = options;
    this.#first = new FirstStart(options.concurrency);
    this.#waits = new StoppableWaits(options.clock);
    this.#turns = new LoopTurns(options.clock);
    this.#retirement = new Retirement({
      ...options,
      waits: this.#waits,
      lendSockets: (slot) => this.#lendSockets(slot),
    });
    this.#scripts = new ScriptWatch({
      ...options,
      scriptFd: options.pages.scriptFd,
      stuck: (index, module, forMs) => this.#endStuck(index, module, forMs),
    });
    this.#maps = new SharedMaps({
      clock: options.clock,
      tell: (index, command) => this.#tell(index, command),
    });
    this.#quotas = new QuotaGroups({ tell: (...to) => this.#tell(...to) });
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  deliverTo(events: WorkerEvents): void {
    this.#events = events;
  }

  /** Makes the processes, which load themselves. */
  spawn(): void {
    for (let index = 0; index < this.#options.concurrency; index += 1) {
      const slot = makeSlot(index, this.#spawnHost(index));
      this.slots.push(slot);
      void this.#keepAlive(slot);
    }
    this.#options.early.endRest();
  }

  /** Sets every worker up; see the pool's method of this name. */
  async start(provision: WorkerProvision): Promise<void> {
    this.#provision = provision;
    this.#begin?.(provision);
    await this.#first.done;
  }

  /** Those that get updates. */
  provisioned(): readonly WorkerSlot[] {
    return this.slots.filter(({ isProvisioned }) => isProvisioned);
  }

  /** Hands out the sockets of listeners that are new in the provision. */
  async adopt(slot: WorkerSlot): Promise<string | undefined> {
    return await adoptSockets(slot, this.#provision?.listeners() ?? []);
  }

  async stop(limitMs: number): Promise<void> {
    this.#beginStop();
    await Promise.all(
      this.slots.map(async (slot) => {
        slot.state = 'stopping';
        await slot.host.stop(limitMs);
      }),
    );
  }

  kill(): void {
    this.#beginStop();
    for (const { host } of this.slots) host.kill('asked');
  }

  #beginStop(): void {
    this.#first.fail(new WorkerStartError('the server was told to end'));
    this.#waits.stop();
    this.#scripts.stop();
  }

  #spawnHost(index: number): WorkerHost {
    const { clock, pages, early, log } = this.#options;
    this.#events?.spawned(index);
    this.#scripts.spawned(index);
    this.#maps.spawned(index);
    return new WorkerHost({
      workerIndex: index,
      clock,
      pages,
      turns: this.#turns,
      made: early.take(index),
      log,
      reported: (report) => this.#events?.reported(index, report),
      noticed: (notice) => this.#noticed(index, notice),
    });
  }

  /** False: the worker takes nothing in now. */
  #tell(index: number, command: UnansweredCommand, isSmall = false): boolean {
    const host = this.slots[index]?.host;
    if (host === undefined || (host.isCongested && !isSmall)) return false;
    host.notify(command);
    return true;
  }

  #noticed(index: number, notice: Notice): void {
    if (notice.kind === 'script_began') return this.#scripts.began(notice);
    if (notice.kind === 'shared_changes') return this.#maps.noticed(index, notice);
    if (notice.kind === 'quota_notice') return this.#quotas.noticed(index, notice);
    if (notice.kind !== 'worn_out') return this.#events?.noticed(notice);
    const slot = this.slots[index];
    if (slot !== undefined) this.#retirement.add(slot, notice.exceptions);
  }

  /** The others do not run the module any more either. */
  #endStuck(index: number, { module, entry }: ScriptNotice, forMs: number): void {
    const host = this.slots[index]?.host;
    this.#options.log(
      'error',
      `worker ${index} (pid ${host?.pid}) was held for ${forMs} ms by the script ${entry}; ` +
        'it is killed, and the script is switched off until it has another version',
    );
    host?.kill('script_loop');
    for (const slot of this.provisioned()) slot.host.notify({ kind: 'disable_script', module });
  }

  /** The life of a slot: one process after the other until all are stopped. */
  async #keepAlive(slot: WorkerSlot): Promise<void> {
    for (;;) {
      await this.#setUp(slot);
      const exit = await slot.host.exited;
      slot.isProvisioned = false;
      this.#quotas.ended(slot.index);
      this.#setChecking(slot, false);
      slot.adopted.clear();
      this.#events?.gone(slot.index, exit);
      if (this.#waits.isStopped) return;
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
      await this.#waits.wait(delayMs);
      if (this.#waits.isStopped) return;
      slot.restarts += 1;
      slot.state = 'starting';
      slot.host = this.#spawnHost(slot.index);
    }
  }

  async #setUp(slot: WorkerSlot): Promise<void> {
    const { host } = slot;
    try {
      const provision = await Promise.race([this.#begun, host.exited.then(() => undefined)]);
      if (provision === undefined || this.#waits.isStopped) return;
      await host.start(provision.heritageOf(slot.index), provision.killTimeoutMs);
      // From here on updates follow the snapshot on the same channel.
      slot.isProvisioned = true;
      for (const module of this.#scripts.disabled) host.notify({ kind: 'disable_script', module });
      const applied = host.apply(provision.resources());
      for (const updates of this.#options.underWay) void host.apply(updates).catch(() => undefined);
      const refusal = await applied;
      if (refusal !== undefined) throw new WorkerStartError(refusal);
      await this.#first.applied(slot.index);
      this.#setChecking(slot, true);
      await Promise.race([provision.mayListen, host.exited]);
      for (const sockets of provision.listeners()) sockets.listen();
      const failure = await this.adopt(slot);
      if (failure !== undefined) throw new WorkerStartError(failure);
      for (const notice of provision.notices()) host.notify(notice);
      slot.state = 'running';
      this.#first.running(slot.index);
      if (slot.restarts > 0) {
        this.#options.log('info', `worker ${slot.index} (pid ${host.pid}) serves again`);
      }
    } catch (error) {
      if (this.#waits.isStopped) return;
      const text = errorText(error);
      this.#options.log('error', `cannot set up worker ${slot.index}: ${text}`);
      if (error instanceof WorkerStartError) this.#first.fail(error);
      host.kill('start_failed');
    }
  }

  /** Tells all who shares the active checks; once for all changes of a turn of the loop. */
  #setChecking(slot: WorkerSlot, canCheck: boolean): void {
    if (slot.canCheck === canCheck) return;
    slot.canCheck = canCheck;
    setImmediate(() => {
      if (this.#waits.isStopped) return;
      const workers = this.slots.filter((each) => each.canCheck).map(({ index }) => index);
      for (const { host } of this.provisioned()) {
        host.notify({ kind: 'set_checking_workers', workers });
      }
    });
  }

  #lendSockets(slot: WorkerSlot): Promise<boolean> {
    const listeners = this.#provision?.listeners() ?? [];
    return lendSockets(slot, this.slots, listeners, (text) => this.#options.log('info', text));
  }
}

/** 0, then 200 ms and twice as long each time, up to 10 s. */
function backOffMs(failuresInARow: number): number {
  if (failuresInARow <= 1) return 0;
  return Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (failuresInARow - 2));
}
