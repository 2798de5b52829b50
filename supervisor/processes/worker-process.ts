/**
 * The process of one worker: made with the descriptors that it inherits, given listening sockets
 * over one of them, ended by a signal, and watched for its end. What is said over the message
 * channel is worker-host.ts's business.
 */
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import {
  DESCRIPTORS_PER_MESSAGE_MAX,
  sendDescriptorMessage,
} from '../../shared/posix/descriptor-messages.ts';
import {
  WORKER_DESCRIPTOR_FD,
  WORKER_MESSAGE_FD,
  type SharedPages,
} from '../../shared/messages/heritage.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import { spawnWorker } from './spawn-worker.ts';

export type WorkerEndReason =
  | 'asked'
  | 'worn_out'
  | 'ended_by_itself'
  | 'watchdog'
  | 'script_loop'
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

export interface WorkerProcessOptions {
  readonly workerIndex: number;
  readonly clock: Clock;
  readonly pages: SharedPages;
  /** A process that was made before. */
  readonly made?: ChildProcess | undefined;
  /** The process could not be made. */
  readonly onSpawnError: (text: string) => void;
}

export class WorkerProcess {
  /** 0 when the process could not be made. */
  readonly pid: number;
  /** The parent's end of the message channel. */
  readonly messageSocket: Socket;
  /** Resolves, never rejects, when there is no process any more. */
  readonly ended: Promise<void>;
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #descriptorSocket: Socket;
  readonly #spawnedMs: number;
  #status: Pick<WorkerExit, 'code' | 'signal'> | undefined;
  #endReason: WorkerEndReason = 'ended_by_itself';
  #killTimer: Timer | undefined;

  constructor({ workerIndex, clock, pages, made, onSpawnError }: WorkerProcessOptions) {
    this.#clock = clock;
    this.#spawnedMs = clock.monotonicMs();
    this.#child = made ?? spawnWorker(workerIndex);
    this.pid = this.#child.pid ?? 0;
    this.messageSocket = socketOf(this.#child, WORKER_MESSAGE_FD);
    this.#descriptorSocket = socketOf(this.#child, WORKER_DESCRIPTOR_FD);
    // Its end is seen on the message channel.
    this.#descriptorSocket.on('error', () => undefined);
    this.sendDescriptors([pages.outlierFd, pages.breakerFd, pages.rateLimitFd, pages.scriptFd]);
    this.ended = exitOf(this.#child, onSpawnError).then((status) => {
      this.#status = status;
      this.#killTimer?.cancel();
    });
  }

  get hasEnded(): boolean {
    return this.#status !== undefined;
  }

  /** Notes why the process is about to end; the first reason counts. */
  endsBecause(reason: WorkerEndReason): void {
    if (this.#endReason === 'ended_by_itself') this.#endReason = reason;
  }

  kill(reason: WorkerEndReason): void {
    this.endsBecause(reason);
    this.#kill();
  }

  /** Kills the process unless it ends in time. A later limit does not replace an earlier one. */
  killAfter(limitMs: number): void {
    if (this.hasEnded || this.#killTimer !== undefined) return;
    this.#killTimer = this.#clock.after(limitMs, () => this.#kill());
  }

  /** False: the process takes no descriptors any more. */
  sendDescriptors(descriptors: readonly number[]): boolean {
    for (let at = 0; at < descriptors.length; at += DESCRIPTORS_PER_MESSAGE_MAX) {
      const some = descriptors.slice(at, at + DESCRIPTORS_PER_MESSAGE_MAX);
      if (!this.#sendSome(some)) return false;
    }
    return true;
  }

  #sendSome(descriptors: readonly number[]): boolean {
    const fd = descriptorOf(this.#descriptorSocket);
    try {
      return fd >= 0 && sendDescriptorMessage(fd, Buffer.from([descriptors.length]), descriptors);
    } catch (error) {
      // It has ended, and the event that says so is still to come.
      if (error instanceof PosixError) return false;
      throw error;
    }
  }

  /** After its end: closes the descriptor channel, and says how it ended. */
  close(): WorkerExit {
    this.#killTimer?.cancel();
    this.#descriptorSocket.destroy();
    const { code, signal } = this.#status ?? { code: null, signal: null };
    const livedMs = this.#clock.monotonicMs() - this.#spawnedMs;
    return { reason: this.#endReason, code, signal, livedMs };
  }

  #kill(): void {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
  }
}

/** The socket of one of the two descriptors that the worker has as pipes. */
function socketOf(child: ChildProcess, fd: number): Socket {
  const socket: unknown = child.stdio[fd];
  if (socket instanceof Socket) return socket;
  // The spawn failed; 'error' follows. An ended socket makes the channel close at once.
  return new Socket().destroy();
}

/** -1 when it is closed. Node keeps the descriptor to itself. */
function descriptorOf(socket: Socket): number {
  return (socket as { readonly _handle?: { readonly fd?: number } | null })._handle?.fd ?? -1;
}

/** Node emits 'error' instead of 'exit' when the process could not be made. */
function exitOf(
  child: ChildProcess,
  onSpawnError: (text: string) => void,
): Promise<Pick<WorkerExit, 'code' | 'signal'>> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      onSpawnError(error.message);
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}
