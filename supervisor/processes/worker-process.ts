/**
 * The process of one worker: made with the descriptors that it inherits, given listening sockets
 * over one of them, ended by a signal, and watched for its end. What is said over the message
 * channel is worker-host.ts's business.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  DESCRIPTORS_PER_MESSAGE_MAX,
  sendDescriptorMessage,
} from '../../shared/posix/descriptor-messages.ts';
import { openSeqpacketPair } from '../../shared/posix/sockets.ts';
import { workerCommand } from './worker-command.ts';

export interface SharedPages {
  readonly outlierFd: number;
  readonly breakerFd: number;
  readonly rateLimitFd: number;
}

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

export interface WorkerProcessOptions {
  readonly workerIndex: number;
  readonly clock: Clock;
  /** Shared memory of shared/limits/, by what is counted there. */
  readonly pages: SharedPages;
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
  readonly #descriptorFd: number;
  readonly #spawnedMs: number;
  #status: Pick<WorkerExit, 'code' | 'signal'> | undefined;
  #endReason: WorkerEndReason = 'ended_by_itself';
  #killTimer: Timer | undefined;

  constructor({ workerIndex, clock, pages, onSpawnError }: WorkerProcessOptions) {
    this.#clock = clock;
    this.#spawnedMs = clock.monotonicMs();
    const [ours, theirs] = openSeqpacketPair();
    this.#descriptorFd = ours;
    this.#child = spawnWorker(workerIndex, theirs, pages);
    closeDescriptor(theirs);
    this.pid = this.#child.pid ?? 0;
    this.messageSocket = messageSocketOf(this.#child);
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
      const count = Buffer.from([some.length]);
      if (!sendDescriptorMessage(this.#descriptorFd, count, some)) return false;
    }
    return true;
  }

  /** After its end: closes the descriptor channel, and says how it ended. */
  close(): WorkerExit {
    this.#killTimer?.cancel();
    closeDescriptor(this.#descriptorFd);
    const { code, signal } = this.#status ?? { code: null, signal: null };
    const livedMs = this.#clock.monotonicMs() - this.#spawnedMs;
    return { reason: this.#endReason, code, signal, livedMs };
  }

  #kill(): void {
    if (!this.hasEnded) this.#child.kill('SIGKILL');
  }
}

/** Descriptor 3 is the message channel, 4 the `descriptorFd`, 5 to 7 are the shared pages. */
function spawnWorker(workerIndex: number, descriptorFd: number, pages: SharedPages): ChildProcess {
  const { file, args, env } = workerCommand(workerIndex);
  return spawn(file, args, {
    stdio: [
      'ignore',
      'inherit',
      'inherit',
      'pipe',
      descriptorFd,
      pages.outlierFd,
      pages.breakerFd,
      pages.rateLimitFd,
    ],
    env,
  });
}

function messageSocketOf(child: ChildProcess): Socket {
  const socket: unknown = child.stdio[3];
  if (socket instanceof Socket) return socket;
  // The spawn failed; 'error' follows. An ended socket makes the channel close at once.
  return new Socket().destroy();
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
