/** Makes the process of a worker with the descriptors that it inherits. */
import { spawn, type ChildProcess } from 'node:child_process';
import { workerCommand } from './worker-command.ts';

/** Descriptor 3 is the message channel, 4 takes descriptors (shared/messages/heritage.ts). */
export function spawnWorker(workerIndex: number): ChildProcess {
  const { file, args, env } = workerCommand(workerIndex);
  return spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe'], env });
}
