/**
 * The supervisor's handle on one worker process, for one life of it: the only file that talks to a
 * worker. It knows neither what the messages cause nor whether another worker follows when this one
 * ends.
 */
import { MessageChannel } from '../../shared/channel/message-channel.ts';
import { CallError, PendingCalls } from './pending-calls.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type {
  SupervisorToWorker,
  UnansweredCommand,
} from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { splitHosts } from '../../shared/resources/clusters/host-parts.ts';
import { splitRoutes } from '../../shared/resources/routes/route-parts.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { StatsReport } from '../../shared/stats/report.ts';
import { Deferred } from './deferred.ts';
import { StartHandshake } from './start-handshake.ts';
import { firstPart } from './update-parts.ts';
import { isNotice, type Notice } from '../../shared/messages/worker-notices.ts';
import {
  WorkerProcess,
  type WorkerEndReason,
  type WorkerExit,
  type WorkerProcessOptions,
} from './worker-process.ts';
import type { LoopTurns } from '../loop/loop-turns.ts';
import { WorkerWatchdog } from './worker-watchdog.ts';

/** Applying a large configuration takes seconds; a stuck worker is the watchdog's. */
const APPLY_LIMIT_MS = 600_000;
const LISTEN_LIMIT_MS = 10_000;
/** From the request to end, or from the loss of the channel, to SIGKILL. */
const STOP_LIMIT_MS = 2_000;
/** How long the last messages of an ended worker may take to arrive. */
const LAST_WORDS_LIMIT_MS = 500;

export interface WorkerHostOptions extends Omit<WorkerProcessOptions, 'onSpawnError'> {
  /** All workers share them. */
  readonly turns: LoopTurns;
  log(level: 'debug' | 'warning' | 'error', text: string): void;
  /** Each report exactly once and in order, also of a flush whose deadline has passed. */
  reported(report: StatsReport): void;
  noticed(notice: Notice): void;
}

export interface SocketToAdopt {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

export type Reply = Exclude<Extract<WorkerToSupervisor, { readonly id: number }>, { kind: 'pong' }>;

export class WorkerHost {
  readonly workerIndex: number;
  /** 0 when the process could not be made; `exited` resolves then. */
  readonly pid: number;
  /** Resolves, never rejects, when the process has ended and its last report was delivered. */
  readonly exited: Promise<WorkerExit>;
  readonly #options: WorkerHostOptions;
  readonly #process: WorkerProcess;
  readonly #channel: MessageChannel<SupervisorToWorker, WorkerToSupervisor>;
  readonly #calls: PendingCalls<Reply>;
  readonly #watchdog: WorkerWatchdog;
  readonly #channelClosed = new Deferred();
  readonly #handshake: StartHandshake;
  #applying: Promise<unknown> = Promise.resolve();

  constructor(options: WorkerHostOptions) {
    this.workerIndex = options.workerIndex;
    this.#options = options;
    this.#calls = new PendingCalls(options.clock);
    this.#process = new WorkerProcess({
      ...options,
      onSpawnError: (text) => options.log('error', `cannot start ${this.#name()}: ${text}`),
    });
    this.pid = this.#process.pid;
    this.#channel = new MessageChannel(this.#process.messageSocket, {
      message: (message) => this.#receive(message),
      closed: (error) => this.#onChannelClosed(error),
    });
    this.#watchdog = new WorkerWatchdog({
      clock: options.clock,
      ping: (id) => {
        if (!this.#channel.isCongested) this.#post({ kind: 'ping', id });
      },
      expire: (limitMs) =>
        this.#fail('watchdog', `has not answered for ${limitMs} ms; it is killed`),
    });
    this.#handshake = new StartHandshake({
      clock: options.clock,
      post: (message) => this.#post(message),
      tookTooLong: () => this.#fail('start_failed', 'did not start in time; it is killed'),
      note: (text) => options.log('debug', `${this.#name()} ${text}`),
      mismatched: (text) => this.#fail('build_mismatch', text),
    });
    this.exited = this.#awaitExit();
    this.#handshake.greet();
  }

  /**
   * Hands the heritage over and resolves when the worker awaits resources; rejects with `CallError`
   * when it ends before, and ends it when it takes too long. `killTimeoutMs` 0: no watchdog.
   */
  async start(heritage: WorkerHeritage, killTimeoutMs: number): Promise<void> {
    await this.#handshake.start(heritage);
    this.#watchdog.start(killTimeoutMs);
  }

  /**
   * Applies a batch after all that were given before it. Resolves with what the worker could not
   * apply, undefined on success; rejects with `CallError` when the worker ends or does not answer.
   */
  apply(updates: readonly ResourceUpdate[]): Promise<string | undefined> {
    const applied = this.#applying.then(() => this.#applyNow(updates));
    this.#applying = applied.catch(() => undefined);
    return applied;
  }

  /**
   * The same for a few small updates that the worker applies at once and nobody waits for: it
   * answers only when it fails. An answer would cost both processes more than such an update.
   */
  tell(updates: readonly ResourceUpdate[]): void {
    this.#applying = this.#applying.then(async () => {
      if (this.#channel.isCongested) await this.#channel.drained();
      this.#post({ kind: 'apply', id: 0, updates });
    });
  }

  /** Gives listening sockets to a listener that was put before; they stay open here. */
  async adoptSockets(
    listener: string,
    sockets: readonly SocketToAdopt[],
  ): Promise<string | undefined> {
    if (!this.#process.sendDescriptors(sockets.map(({ fd }) => fd))) {
      this.kill('channel_failed');
      throw new CallError('process_exited', `${this.#name()} takes no descriptors`);
    }
    const announced = sockets.map(({ address, backlog }) => ({ address, backlog }));
    const reply = await this.call(
      (id) => ({ kind: 'adopt_sockets', id, listener, sockets: announced }),
      LISTEN_LIMIT_MS,
    );
    return reply.kind === 'listening' ? reply.error : unexpected(reply);
  }

  async stopListening(listeners: readonly string[], takesWaiting: boolean): Promise<void> {
    await this.call(
      (id) => ({ kind: 'stop_listening', id, listeners, takesWaiting }),
      LISTEN_LIMIT_MS,
    );
  }

  /** Asks for the deltas and resolves when they were delivered to `reported`. */
  async flushStats(limitMs: number): Promise<void> {
    await this.call((id) => ({ kind: 'flush_stats', id }), limitMs);
  }

  /** Sends what has no reply. A worker that takes nothing in any more is ended. */
  notify(notice: UnansweredCommand): void {
    this.#post(notice);
  }

  /** Messages wait for the worker to take them in. */
  get isCongested(): boolean {
    return this.#channel.isCongested;
  }

  /** Ends the worker: asked first, killed when it takes longer than `limitMs`. */
  stop(limitMs: number = STOP_LIMIT_MS, reason: WorkerEndReason = 'asked'): Promise<WorkerExit> {
    this.#process.endsBecause(reason);
    this.#post({ kind: 'shutdown' });
    this.#process.killAfter(limitMs);
    return this.exited;
  }

  kill(reason: WorkerEndReason): void {
    this.#process.kill(reason);
  }

  async #applyNow(updates: readonly ResourceUpdate[]): Promise<string | undefined> {
    const { turns } = this.#options;
    let rest = splitRoutes(splitHosts(updates));
    const isLarge = firstPart(rest) < rest.length;
    for (;;) {
      // Other workers, and whatever else the loop has to do, come between the parts.
      if (isLarge && turns.isOver) await turns.next();
      const count = firstPart(rest);
      if (count >= rest.length) break;
      this.#post({ kind: 'apply', id: 0, updates: rest.slice(0, count), more: true });
      rest = rest.slice(count);
      await this.#channel.drained();
    }
    const reply = await this.call((id) => ({ kind: 'apply', id, updates: rest }), APPLY_LIMIT_MS);
    return reply.kind === 'applied' ? reply.error : unexpected(reply);
  }

  /** Sends what is answered, and rejects with `CallError` where it is not within the limit. */
  async call(make: (id: number) => SupervisorToWorker, limitMs: number): Promise<Reply> {
    const { id, reply } = this.#calls.open(make(0).kind, limitMs);
    this.#post(make(id));
    // A worker that has ended, or whose channel just failed, answers nothing any more.
    if (this.#channel.isClosed) this.#calls.rejectAll(`${this.#name()} has ended`);
    return reply;
  }

  /** A channel that cannot take a message belongs to a worker that must be replaced. */
  #post(message: SupervisorToWorker): void {
    if (this.#channel.isClosed) return;
    try {
      this.#channel.post(message);
    } catch (error) {
      this.#fail('channel_failed', `is killed: ${String(error)}`);
    }
  }

  #receive(message: WorkerToSupervisor): void {
    this.#watchdog.heard();
    if (isNotice(message)) return this.#options.noticed(message);
    switch (message.kind) {
      case 'hello':
        return this.#handshake.onHello(message);
      case 'ready':
        return this.#handshake.onReady();
      case 'pong':
        return;
      case 'not_recognised':
        this.#options.log('error', `${this.#name()} does not know the message ${message.what}`);
        return;
      default:
        this.#receiveReply(message);
    }
  }

  #receiveReply(reply: Reply): void {
    switch (reply.kind) {
      case 'stats':
        this.#options.reported(reply.report);
        return void this.#calls.settle(reply.id, reply);
      case 'applied':
        if (reply.id === 0) this.#options.log('error', `${this.#name()}: ${reply.error}`);
        return void this.#calls.settle(reply.id, reply);
      case 'listening':
      case 'stopped_listening':
      case 'profiled':
      case 'explained':
      case 'refusals':
      case 'exemplars':
      case 'listed_connections':
      case 'closing_connections':
      case 'scripts':
      case 'connections':
        return void this.#calls.settle(reply.id, reply);
      default:
        this.#options.log('error', `${this.#name()} sent an unknown message`);
    }
  }

  #onChannelClosed(error: Error | undefined): void {
    this.#channelClosed.resolve();
    if (error !== undefined && !this.#process.hasEnded) {
      this.#options.log('warning', `the channel of ${this.#name()} failed: ${error.message}`);
      this.kill('channel_failed');
    }
    const reason = `${this.#name()} has ended`;
    this.#calls.rejectAll(reason);
    this.#handshake.fail(reason);
    // It ends itself when its channel is lost; this is for one that cannot.
    this.#process.killAfter(STOP_LIMIT_MS);
  }

  async #awaitExit(): Promise<WorkerExit> {
    await this.#process.ended;
    this.#watchdog.stop();
    const limit = this.#options.clock.after(LAST_WORDS_LIMIT_MS, () => this.#channel.close());
    await this.#channelClosed.promise;
    limit.cancel();
    return this.#process.close();
  }

  #fail(reason: WorkerEndReason, text: string): void {
    this.#options.log('error', `${this.#name()} ${text}`);
    this.kill(reason);
  }

  #name(): string {
    return `worker ${this.workerIndex} (pid ${this.pid})`;
  }
}

export function unexpected(reply: Reply): string {
  return `unexpected answer: ${reply.kind}`;
}
