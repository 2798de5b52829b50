/**
 * What an epoch says to the epoch before it. Each question has a deadline; a parent that does not
 * answer or is gone is an outcome, never an exception, since the child serves on without it.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';
import { isDatagramSocketHeld } from '../../shared/posix/sockets.ts';
import { Endpoint } from './endpoint.ts';
import type {
  HotRestartMessage,
  HotRestartReply,
  HotRestartRequest,
  ParentStats,
} from './hot-restart-message.ts';

/**
 * A parent answers within milliseconds; one that merges statistics of a large server in seconds.
 */
const REPLY_LIMIT_MS = 10_000;
/** A question that was sent to a process that then died is answered by nobody. */
const WATCH_PERIOD_MS = 50;
/** 64 MiB hold the statistics of half a million names. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;

export type ParentAnswer<T> =
  | { readonly outcome: 'answered'; readonly value: T }
  /** Nobody holds the parent's socket. */
  | { readonly outcome: 'gone' }
  | { readonly outcome: 'silent'; readonly afterMs: number }
  /** The parent is of a build that does not know the question. */
  | { readonly outcome: 'not_recognised' };

export interface AdminHandOver {
  readonly originalStartTimeUnixSeconds: number;
  readonly enableReusePortDefault: boolean;
  /** What an operator has ordered for single hosts. */
  readonly hostOrders?: string;
}

export interface ChildSideOptions {
  readonly clock: Clock;
  readonly own: UnixSocketAddress;
  readonly parent: UnixSocketAddress;
  readonly socketMode: number;
  readonly replyLimitMs?: number;
  malformed(reason: string): void;
  stranger(uid: number | undefined, pid: number | undefined): void;
  /** A Sluice that ends tells what it counted after the last question. */
  lastStats(stats: ParentStats): void;
}

interface Waiting {
  readonly kind: HotRestartReply['kind'];
  settle(answer: ParentAnswer<ReplyWithDescriptors>): void;
}

interface ReplyWithDescriptors {
  readonly reply: HotRestartReply;
  readonly descriptors: readonly number[];
}

export class ChildSide {
  readonly #endpoint: Endpoint;
  readonly #options: ChildSideOptions;
  /** The protocol has no ids: one question at a time, in order. */
  #queue: Promise<unknown> = Promise.resolve();
  #waiting: Waiting | undefined;

  /** Binds the child's socket; throws `PosixError` EADDRINUSE when another child holds it. */
  constructor(options: ChildSideOptions) {
    this.#options = options;
    this.#endpoint = Endpoint.bind(options.own, {
      clock: options.clock,
      socketMode: options.socketMode,
      messageBytesMax: REPLY_BYTES_MAX,
      peer: options.parent,
      handlers: {
        message: (message, takeDescriptors) => this.#receive(message, takeDescriptors),
        malformed: (reason) => options.malformed(reason),
        stranger: (uid, pid) => options.stranger(uid, pid),
      },
    });
  }

  async shutdownParentAdmin(): Promise<ParentAnswer<AdminHandOver>> {
    const answer = await this.#ask({ kind: 'shutdown_admin' });
    return mapAnswer(answer, ({ reply }) => (reply.kind === 'shutdown_admin' ? reply : undefined));
  }

  /**
   * The parent's listening socket of one worker; undefined when it has none. The caller owns it.
   */
  async takeListenSocket(
    address: string,
    workerIndex: number,
  ): Promise<ParentAnswer<number | undefined>> {
    const answer = await this.#ask({ kind: 'pass_listen_socket', address, workerIndex });
    if (answer.outcome !== 'answered') return answer;
    const [socket, ...surplus] = answer.value.descriptors;
    surplus.forEach(closeDescriptor);
    return { outcome: 'answered', value: socket };
  }

  async parentStats(): Promise<ParentAnswer<ParentStats>> {
    const answer = await this.#ask({ kind: 'stats', isSluice: true });
    return mapAnswer(answer, ({ reply }) => (reply.kind === 'stats' ? reply.stats : undefined));
  }

  /** Resolves with false when the parent is gone. */
  drainParentListeners(): Promise<boolean> {
    return this.#tell({ kind: 'drain_listeners' });
  }

  /** Resolves with false when the parent is gone already. */
  terminateParent(): Promise<boolean> {
    return this.#tell({ kind: 'terminate' });
  }

  close(): void {
    this.#waiting?.settle({ outcome: 'gone' });
    this.#endpoint.close();
  }

  #ask(request: HotRestartRequest): Promise<ParentAnswer<ReplyWithDescriptors>> {
    return this.#inTurn(() => this.#askNow(request));
  }

  #tell(request: HotRestartRequest): Promise<boolean> {
    return this.#inTurn(() => this.#send(request));
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(act);
    // The next question is asked whatever became of this one; the caller is told through `done`.
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #askNow(request: HotRestartRequest): Promise<ParentAnswer<ReplyWithDescriptors>> {
    const timers: Timer[] = [];
    const answered = new Promise<ParentAnswer<ReplyWithDescriptors>>((resolve) => {
      this.#waiting = { kind: request.kind as HotRestartReply['kind'], settle: resolve };
      const { clock, parent, replyLimitMs: afterMs = REPLY_LIMIT_MS } = this.#options;
      timers.push(
        clock.after(afterMs, () => resolve({ outcome: 'silent', afterMs })),
        clock.every(WATCH_PERIOD_MS, () => {
          if (!isDatagramSocketHeld(parent)) resolve({ outcome: 'gone' });
        }),
      );
    });
    try {
      if (!(await this.#send(request))) return { outcome: 'gone' };
      return await answered;
    } finally {
      for (const timer of timers) timer.cancel();
      this.#waiting = undefined;
    }
  }

  async #send(request: HotRestartRequest): Promise<boolean> {
    try {
      await this.#endpoint.send(this.#options.parent, { kind: 'request', request });
      return true;
    } catch (error) {
      const isGone =
        error instanceof PosixError && ['ECONNREFUSED', 'ENOENT', 'EAGAIN'].includes(error.code);
      if (isGone) return false;
      throw error;
    }
  }

  #receive(message: HotRestartMessage, takeDescriptors: () => readonly number[]): void {
    const waiting = this.#waiting;
    if (waiting !== undefined && message.kind === 'not_recognised') {
      waiting.settle({ outcome: 'not_recognised' });
    } else if (message.kind === 'reply' && message.reply.kind === waiting?.kind) {
      const { reply } = message;
      const descriptors = reply.kind === 'pass_listen_socket' ? takeDescriptors() : [];
      // It waits for one answer; what another one brings belongs to nobody.
      this.#waiting = undefined;
      waiting.settle({ outcome: 'answered', value: { reply, descriptors } });
    } else if (message.kind === 'reply' && message.reply.kind === 'stats') {
      this.#options.lastStats(message.reply.stats);
    }
  }
}

function mapAnswer<T>(
  answer: ParentAnswer<ReplyWithDescriptors>,
  read: (value: ReplyWithDescriptors) => T | undefined,
): ParentAnswer<T> {
  if (answer.outcome !== 'answered') return answer;
  const value = read(answer.value);
  return value === undefined ? { outcome: 'not_recognised' } : { outcome: 'answered', value };
}
