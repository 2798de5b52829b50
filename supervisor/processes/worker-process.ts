/**
 * Makes the process of a worker with the descriptors that it inherits, and says when it has ended.
 * What is said over those descriptors is worker-host.ts's business.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { workerCommand } from './worker-command.ts';

export interface SharedPages {
  readonly outlierFd: number;
  readonly breakerFd: number;
  readonly rateLimitFd: number;
}

/** Descriptor 3 is the message channel, 4 the `descriptorFd`, 5 to 7 are the shared pages. */
export function spawnWorker(
  workerIndex: number,
  descriptorFd: number,
  pages: SharedPages,
): ChildProcess {
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

/** The parent's end of the message channel. */
export function messageSocketOf(child: ChildProcess): Socket {
  const socket: unknown = child.stdio[3];
  if (socket instanceof Socket) return socket;
  // The spawn failed; 'error' follows. An ended socket makes the channel close at once.
  return new Socket().destroy();
}

/** Node emits 'error' instead of 'exit' when the process could not be made. */
export function exitOf(
  child: ChildProcess,
  onSpawnError: (text: string) => void,
): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      onSpawnError(error.message);
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}
