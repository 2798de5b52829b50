/**
 * The supervisor's handle on one worker process, for one life of it: the only file that talks to a
 * worker. It knows neither what the messages cause nor whether another worker follows when this one
 * ends.
 */
import type { ChildProcess } from 'node:child_process';
import { buildId } from '../../shared/channel/build-id.ts';
import { MessageChannel } from '../../shared/channel/message-channel.ts';
import { CallError, PendingCalls } from './pending-calls.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import {
  PROTOCOL_VERSION,
  type Hello,
  type WorkerHeritage,
} from '../../shared/messages/heritage.ts';
import type {
  ProfileCommand,
  SupervisorToWorker,
  UnansweredCommand,
} from '../../shared/messages/supervisor-to-worker.ts';
import type {
  ListenerConnections,
  WorkerToSupervisor,
} from '../../shared/messages/worker-to-supervisor.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  DESCRIPTORS_PER_MESSAGE_MAX,
  sendDescriptorMessage,
} from '../../shared/posix/descriptor-messages.ts';
import { openSeqpacketPair } from '../../shared/posix/sockets.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { splitHosts } from '../../shared/resources/clusters/host-parts.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { StatsReport } from '../../shared/stats/report.ts';
import { Deferred } from './deferred.ts';
import { firstPart } from './update-parts.ts';
import {
  isNotice,
  type LogNotice,
  type Notice,
  type TapNotice,
  type UpstreamNotice,
} from '../../shared/messages/worker-notices.ts';
import { exitOf, messageSocketOf, spawnWorker, type SharedPages } from './worker-process.ts';
import { WorkerWatchdog } from './worker-watchdog.ts';

/** From spawn to the worker's hello and from `start` to `ready`, each. */
const START_LIMIT_MS = 10_000;
/** Applying a large configuration takes seconds; a stuck worker is the watchdog's. */
const APPLY_LIMIT_MS = 600_000;
const LISTEN_LIMIT_MS = 10_000;
/** A profile of minutes takes seconds to write. */
const PROFILE_LIMIT_MS = 60_000;
/** From the request to end, or from the loss of the channel, to SIGKILL. */
const STOP_LIMIT_MS = 2_000;
/** How long the last messages of an ended worker may take to arrive. */
const LAST_WORDS_LIMIT_MS = 500;

export type WorkerEndReason =
  | 'asked'
  | 'worn_out'
  | 'ended_by_itself'
  | 'watchdog'
  | 'start_failed'
  | 'build_mismatch'
  | 'channel_failed';

export interface WorkerExit {
  readonly reason: WorkerEndReason;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From spawn to the end. */
  readonly livedMs: number;
}

export interface WorkerHostOptions {
  readonly workerIndex: number;
  readonly clock: Clock;
  /** Shared memory of shared/limits/, by what is counted there. */
  readonly pages: SharedPages;
  log(level: 'debug' | 'warning' | 'error', text: string): void;
  /** Each report exactly once and in order, also of a flush whose deadline has passed. */
  onReport(report: StatsReport): void;
  onUpstreamNotice(notice: UpstreamNotice): void;
  onTapped(notice: TapNotice): void;
  onLogEntries(notice: LogNotice): void;
  /** It asks to be replaced: its data path throws again and again. */
  onWornOut(exceptions: number): void;
}

export interface SocketToAdopt {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

type Reply = Exclude<Extract<WorkerToSupervisor, { readonly id: number }>, { kind: 'pong' }>;

export class WorkerHost {
  readonly workerIndex: number;
  /** 0 when the process could not be made; `exited` resolves then. */
  readonly pid: number;
  /** Resolves, never rejects, when the process has ended and its last report was delivered. */
  readonly exited: Promise<WorkerExit>;
  readonly #options: WorkerHostOptions;
  readonly #child: ChildProcess;
  readonly #channel: MessageChannel<SupervisorToWorker, WorkerToSupervisor>;
  readonly #descriptorFd: number;
  readonly #calls: PendingCalls<Reply>;
  readonly #watchdog: WorkerWatchdog;
  readonly #channelClosed: Promise<void>;
  readonly #greeted: Deferred;
  readonly #ready: Deferred;
  readonly #spawnedMs: number;
  #applying: Promise<unknown> = Promise.resolve();
  #endReason: WorkerEndReason = 'ended_by_itself';
  #stopTimer: Timer | undefined;
  #hasEnded = false;

  constructor(options: WorkerHostOptions) {
    this.workerIndex = options.workerIndex;
    this.#options = options;
    this.#spawnedMs = options.clock.monotonicMs();
    this.#calls = new PendingCalls(options.clock);
    this.#greeted = new Deferred();
    this.#ready = new Deferred();
    const [ours, theirs] = openSeqpacketPair();
    this.#descriptorFd = ours;
    this.#child = spawnWorker(options.workerIndex, theirs, options.pages);
    closeDescriptor(theirs);
    this.pid = this.#child.pid ?? 0;
    const hasClosed = new Deferred();
    this.#channelClosed = hasClosed.promise;
    this.#channel = new MessageChannel(messageSocketOf(this.#child), {
      message: (message) => this.#receive(message),
      closed: (error) => {
        hasClosed.resolve();
        this.#onChannelClosed(error);
      },
    });
    this.#watchdog = new WorkerWatchdog({
      clock: options.clock,
      ping: (id) => {
        if (!this.#channel.isCongested) this.#post({ kind: 'ping', id });
      },
      expire: (limitMs) => {
        options.log('error', `${this.#name()} has not answered for ${limitMs} ms; it is killed`);
        this.kill('watchdog');
      },
    });
    this.exited = this.#awaitExit();
    this.#post({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      buildId: buildId(),
      pid: process.pid,
    });
  }

  /**
   * Hands the heritage over and resolves when the worker awaits resources; rejects with `CallError`
   * when it ends before, and ends it when it takes too long. `killTimeoutMs` 0: no watchdog.
   */
  async start(heritage: WorkerHeritage, killTimeoutMs: number): Promise<void> {
    const limit = this.#options.clock.after(2 * START_LIMIT_MS, () => {
      this.#options.log('error', `${this.#name()} did not start in time; it is killed`);
      this.kill('start_failed');
    });
    try {
      await this.#greeted.promise;
      this.#post({ kind: 'start', heritage });
      await this.#ready.promise;
      this.#watchdog.start(killTimeoutMs);
    } finally {
      limit.cancel();
    }
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
    this.#sendDescriptors(sockets.map(({ fd }) => fd));
    const announced = sockets.map(({ address, backlog }) => ({ address, backlog }));
    const reply = await this.#call(
      (id) => ({ kind: 'adopt_sockets', id, listener, sockets: announced }),
      LISTEN_LIMIT_MS,
    );
    return reply.kind === 'listening' ? reply.error : unexpected(reply);
  }

  async stopListening(listeners: readonly string[], takesWaiting: boolean): Promise<void> {
    await this.#call(
      (id) => ({ kind: 'stop_listening', id, listeners, takesWaiting }),
      LISTEN_LIMIT_MS,
    );
  }

  async countConnections(limitMs: number): Promise<readonly ListenerConnections[]> {
    const reply = await this.#call((id) => ({ kind: 'count_connections', id }), limitMs);
    return reply.kind === 'connections' ? reply.listeners : [];
  }

  /** Resolves with why there is no profile; the profile itself is in the file at `path`. */
  async profile(command: ProfileCommand, path: string): Promise<string | undefined> {
    const reply = await this.#call(
      (id) => ({ kind: 'profile', id, command, path }),
      PROFILE_LIMIT_MS,
    );
    return reply.kind === 'profiled' ? reply.error : unexpected(reply);
  }

  /** Asks for the deltas and resolves when they were delivered to `onReport`. */
  async flushStats(limitMs: number): Promise<void> {
    await this.#call((id) => ({ kind: 'flush_stats', id }), limitMs);
  }

  /** Sends what has no reply. A worker that takes nothing in any more is ended. */
  notify(notice: UnansweredCommand): void {
    this.#post(notice);
  }

  /** Ends the worker: asked first, killed when it takes longer than `limitMs`. */
  stop(limitMs: number = STOP_LIMIT_MS, reason: WorkerEndReason = 'asked'): Promise<WorkerExit> {
    if (this.#endReason === 'ended_by_itself') this.#endReason = reason;
    this.#post({ kind: 'shutdown' });
    this.#killAfter(limitMs);
    return this.exited;
  }

  kill(reason: WorkerEndReason): void {
    if (this.#endReason === 'ended_by_itself') this.#endReason = reason;
    if (!this.#hasEnded) this.#child.kill('SIGKILL');
  }

  async #applyNow(updates: readonly ResourceUpdate[]): Promise<string | undefined> {
    let rest = splitHosts(updates);
    for (;;) {
      const count = firstPart(rest);
      if (count >= rest.length) break;
      this.#post({ kind: 'apply', id: 0, updates: rest.slice(0, count), more: true });
      rest = rest.slice(count);
      await this.#channel.drained();
    }
    const reply = await this.#call((id) => ({ kind: 'apply', id, updates: rest }), APPLY_LIMIT_MS);
    return reply.kind === 'applied' ? reply.error : unexpected(reply);
  }

  #sendDescriptors(descriptors: readonly number[]): void {
    for (let at = 0; at < descriptors.length; at += DESCRIPTORS_PER_MESSAGE_MAX) {
      const some = descriptors.slice(at, at + DESCRIPTORS_PER_MESSAGE_MAX);
      if (sendDescriptorMessage(this.#descriptorFd, Buffer.from([some.length]), some)) continue;
      this.kill('channel_failed');
      throw new CallError('process_exited', `${this.#name()} takes no descriptors`);
    }
  }

  async #call(make: (id: number) => SupervisorToWorker, limitMs: number): Promise<Reply> {
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
      this.#options.log('error', `${this.#name()} is killed: ${String(error)}`);
      this.kill('channel_failed');
    }
  }

  #receive(message: WorkerToSupervisor): void {
    this.#watchdog.heard();
    if (isNotice(message)) return this.#receiveNotice(message);
    switch (message.kind) {
      case 'hello':
        return this.#receiveHello(message);
      case 'ready':
        return this.#ready.resolve();
      case 'pong':
        return;
      case 'not_recognised':
        this.#options.log('error', `${this.#name()} does not know the message ${message.what}`);
        return;
      default:
        this.#receiveReply(message);
    }
  }

  #receiveNotice(notice: Notice): void {
    if (notice.kind === 'log_entries') this.#options.onLogEntries(notice);
    else if (notice.kind === 'tapped' || notice.kind === 'tap_lost') this.#options.onTapped(notice);
    else if (notice.kind === 'worn_out') this.#options.onWornOut(notice.exceptions);
    else this.#options.onUpstreamNotice(notice);
  }

  #receiveReply(reply: Reply): void {
    switch (reply.kind) {
      case 'stats':
        this.#options.onReport(reply.report);
        return void this.#calls.settle(reply.id, reply);
      case 'applied':
        if (reply.id === 0) this.#options.log('error', `${this.#name()}: ${reply.error}`);
        return void this.#calls.settle(reply.id, reply);
      case 'listening':
      case 'stopped_listening':
      case 'profiled':
      case 'connections':
        return void this.#calls.settle(reply.id, reply);
      default:
        this.#options.log('error', `${this.#name()} sent an unknown message`);
    }
  }

  #receiveHello(hello: Hello): void {
    if (hello.protocolVersion === PROTOCOL_VERSION && hello.buildId === buildId()) {
      this.#greeted.resolve();
      return;
    }
    this.#options.log(
      'error',
      `${this.#name()} is another build (${hello.buildId}) than this process (${buildId()}): ` +
        'the files on disk were changed under a running server; a hot restart is needed',
    );
    this.kill('build_mismatch');
  }

  #onChannelClosed(error: Error | undefined): void {
    if (error !== undefined && !this.#hasEnded) {
      this.#options.log('warning', `the channel of ${this.#name()} failed: ${error.message}`);
      this.kill('channel_failed');
    }
    const reason = `${this.#name()} has ended`;
    this.#calls.rejectAll(reason);
    this.#greeted.reject(reason);
    this.#ready.reject(reason);
    // It ends itself when its channel is lost; this is for one that cannot.
    this.#killAfter(STOP_LIMIT_MS);
  }

  async #awaitExit(): Promise<WorkerExit> {
    const { code, signal } = await exitOf(this.#child, (text) =>
      this.#options.log('error', `cannot start ${this.#name()}: ${text}`),
    );
    this.#hasEnded = true;
    this.#watchdog.stop();
    this.#stopTimer?.cancel();
    const limit = this.#options.clock.after(LAST_WORDS_LIMIT_MS, () => this.#channel.close());
    await this.#channelClosed;
    limit.cancel();
    this.#stopTimer?.cancel();
    closeDescriptor(this.#descriptorFd);
    const livedMs = this.#options.clock.monotonicMs() - this.#spawnedMs;
    return { reason: this.#endReason, code, signal, livedMs };
  }

  #killAfter(limitMs: number): void {
    if (this.#hasEnded || this.#stopTimer !== undefined) return;
    this.#stopTimer = this.#options.clock.after(limitMs, () => {
      if (!this.#hasEnded) this.#child.kill('SIGKILL');
    });
  }

  #name(): string {
    return `worker ${this.workerIndex} (pid ${this.pid})`;
  }
}

function unexpected(reply: Reply): string {
  return `unexpected answer: ${reply.kind}`;
}
