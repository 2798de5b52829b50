/**
 * All workers of the server as one: sends each of them what all of them must know, and collects
 * what they answer. Their lives are worker-lives.ts's. It decides nothing about configuration or
 * statistics.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { createBreakerPage } from '../../shared/limits/breaker-page.ts';
import { createOutlierPage } from '../../shared/limits/outlier-page.ts';
import { createScriptPage } from '../../shared/limits/script-page.ts';
import { createRateLimitPage } from '../../shared/limits/rate-limit-page.ts';
import type {
  CloseOrder,
  ConnectionQuestion,
  WorkerConnections,
} from '../../shared/connections/connections.ts';
import type { AskedRequest, Explanation } from '../../shared/explain/explanation.ts';
import type { Exemplar } from '../../shared/messages/exemplars.ts';
import type { Refusals } from '../../shared/messages/refusals.ts';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type {
  ProfileCommand,
  UnansweredCommand,
} from '../../shared/messages/supervisor-to-worker.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { WaitTracer } from '../loop/contention.ts';
import type { EarlyWorkers } from './early-workers.ts';
import type { WorkerEvents } from './worker-events.ts';
import { WorkerLives } from './worker-lives.ts';
import type { SharedPages } from '../../shared/messages/heritage.ts';
import {
  closeConnections,
  countConnections,
  explain,
  recallExemplars,
  recallRefusals,
  listConnections,
  profile,
  type AskedAboutScripts,
  stepOfScripts,
} from './worker-questions.ts';
import type { WorkerProvision, WorkerSlotStatus } from './worker-slot.ts';

export interface WorkerPoolOptions {
  readonly concurrency: number;
  readonly clock: Clock;
  readonly early: EarlyWorkers;
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
}

export class WorkerPool {
  /** Shared memory that every worker inherits. */
  readonly pages: SharedPages;
  readonly #lives: WorkerLives;
  #traceWait: WaitTracer = async (work) => await work();
  /** Updates that some workers have and that the provision may not have yet. */
  readonly #underWay = new Set<readonly ResourceUpdate[]>();

  constructor(options: WorkerPoolOptions) {
    this.pages = {
      outlierFd: createOutlierPage(),
      breakerFd: createBreakerPage(options.concurrency),
      rateLimitFd: createRateLimitPage(),
      scriptFd: createScriptPage(options.concurrency),
    };
    this.#lives = new WorkerLives({ ...options, pages: this.pages, underWay: this.#underWay });
  }

  /**
   * Delivers from now on what workers say and how their lives go. Until then they have nothing to
   * report: they load themselves, and one that ends is replaced without anybody's being told.
   */
  deliverTo(events: WorkerEvents): void {
    this.#lives.deliverTo(events);
  }

  /** Makes the processes; they load themselves while the configuration is read. */
  spawn(): void {
    this.#lives.spawn();
  }

  /**
   * Sets every worker up and resolves when all of them accept connections. Rejects with
   * `WorkerStartError` when one refuses the configuration or cannot be started.
   */
  async start(provision: WorkerProvision): Promise<void> {
    await this.#lives.start(provision);
  }

  /** What waits for a worker's reply goes through it from now on. */
  traceWaits(trace: WaitTracer): void {
    this.#traceWait = trace;
  }

  /** Sends a batch to all; resolves with one text per worker that could not apply it. */
  async apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]> {
    this.#underWay.add(updates);
    const answers = await Promise.all(
      this.#lives
        .provisioned()
        .map(async ({ host }) =>
          this.#traceWait(async () => await host.apply(updates)).catch(() => undefined),
        ),
    );
    // The caller notes what is in force now right after this.
    setImmediate(() => this.#underWay.delete(updates));
    return answers.filter((answer) => answer !== undefined);
  }

  /** Sends a few small updates to all that nobody waits for; the provision has them already. */
  tell(updates: readonly ResourceUpdate[]): void {
    for (const { host } of this.#lives.provisioned()) host.tell(updates);
  }

  /** Hands out the sockets of listeners that are new in the provision. */
  async adoptListeners(): Promise<readonly string[]> {
    const answers = await Promise.all(
      this.#lives.provisioned().map(async (slot) => this.#lives.adopt(slot).catch(() => undefined)),
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
      this.#lives.provisioned().map(async ({ host, adopted }) => {
        listeners.forEach((listener) => adopted.delete(listener));
        // A worker that ends in between listens no more either.
        await host.stopListening(listeners, takesWaiting).catch(() => undefined);
      }),
    );
  }

  notify(notice: UnansweredCommand): void {
    for (const { host } of this.#lives.provisioned()) host.notify(notice);
  }

  /** Collects everybody's deltas; resolves with the workers that did not answer in time. */
  async flushStats(limitMs: number): Promise<readonly number[]> {
    const late = await Promise.all(
      this.#lives.provisioned().map(async ({ index, host }) =>
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
      this.#lives
        .provisioned()
        .map(async ({ host }) => countConnections(host, limitMs).catch(() => undefined)),
    );
  }

  /** Each worker's open connections, to be read part by part. */
  listConnections(question: ConnectionQuestion, limitMs: number): readonly WorkerConnections[] {
    return this.#lives.provisioned().map(({ index, host }) => {
      let walk: number | undefined;
      return {
        worker: index,
        next: async () => {
          const part = await listConnections(host, walk ?? question, limitMs);
          walk = part.walk;
          return part;
        },
      };
    });
  }

  /** How many connections each worker has chosen, or why it has not. */
  async closeConnections(order: CloseOrder, limitMs: number): Promise<readonly (number | Error)[]> {
    return await Promise.all(
      this.#lives
        .provisioned()
        .map(async ({ host }) => closeConnections(host, order, limitMs).catch(toError)),
    );
  }

  /** What each worker that answers in time refused last. */
  async recallRefusals(limitMs: number): Promise<readonly Refusals[]> {
    return await Promise.all(
      this.#lives
        .provisioned()
        .map(async ({ host }) => recallRefusals(host, limitMs).catch(() => ({}))),
    );
  }

  /** The latest sampled requests of each worker that answers in time. */
  async recallExemplars(limitMs: number): Promise<readonly Exemplar[]> {
    const workers = this.#lives.provisioned();
    const found = await Promise.all(
      workers.map(async ({ host }) => recallExemplars(host, limitMs).catch(() => [])),
    );
    return found.flat();
  }

  /** All workers serve the same: any of them knows. Rejects where none answers. */
  async explain(asked: AskedRequest, limitMs: number): Promise<Explanation> {
    const [slot] = this.#lives.provisioned();
    if (slot === undefined) throw new Error('no worker serves yet');
    return await explain(slot.host, asked, limitMs);
  }

  /** Those that run modules, to be asked about them. */
  scriptWorkers(): readonly AskedAboutScripts[] {
    return this.#lives.provisioned().map(({ index, host }) => ({
      index,
      step: async (step, limitMs) => await stepOfScripts(host, step, limitMs),
    }));
  }

  /** Commands every worker's profiler; resolves with the indices of those that obeyed. */
  async profile(
    command: ProfileCommand,
    pathOf: (index: number) => string,
  ): Promise<readonly number[]> {
    const done = await Promise.all(
      this.#lives.provisioned().map(async ({ index, host }) => {
        // A worker that ends in between has no profile.
        const failure = await profile(host, command, pathOf(index)).catch(String);
        return failure === undefined ? index : undefined;
      }),
    );
    return done.filter((index) => index !== undefined);
  }

  status(): readonly WorkerSlotStatus[] {
    return this.#lives.slots.map(({ index, host, state, restarts }) => ({
      index,
      pid: host.pid,
      state,
      restarts,
    }));
  }

  /** Ends all workers, each within `limitMs`; resolves when none is left. */
  async stop(limitMs: number): Promise<void> {
    await this.#lives.stop(limitMs);
  }

  /** Ends all workers without asking. */
  kill(): void {
    this.#lives.kill();
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
