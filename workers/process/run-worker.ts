/**
 * One worker process from its hello to its end: the receive loop of its channel, and what the
 * messages command in the data plane. It knows nothing of HTTP and starts nothing by itself.
 */
import { Socket } from 'node:net';
import { buildId } from '../../shared/channel/build-id.ts';
import { MessageChannel } from '../../shared/channel/message-channel.ts';
import { systemClock } from '../../shared/process/clock.ts';
import { exitProcess } from '../../shared/process/exit.ts';
import { PROTOCOL_VERSION, WORKER_MESSAGE_FD, type Hello } from '../../shared/messages/heritage.ts';
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { WorkerToSupervisor } from '../../shared/messages/worker-to-supervisor.ts';
import { dieWithParent } from '../../shared/posix/processes.ts';
import { closeUnaskedInspector } from '../../shared/process/signals.ts';
import { warmUp } from '../warm-up/warm-up.ts';
import { CommandedWorker, type WorkerChannel } from './commanded-worker.ts';

/** When the supervisor is gone, the rest of the access logs gets this long. */
const ORPHAN_EXIT_LIMIT_MS = 500;
/**
 * After `shutdown`; the supervisor kills a little later. Longer than the limits of what is awaited
 * together: connections that end, lines that wait for a disk, services that answer.
 */
const SHUTDOWN_EXIT_LIMIT_MS = 7_000;

/** Resolves when the loop is set up; the process lives until it is told to end. */
export async function runWorker(): Promise<void> {
  const socket = new Socket({ fd: WORKER_MESSAGE_FD, readable: true, writable: true });
  let worker: CommandedWorker | undefined;
  let isEnding = false;
  const end = async (limitMs: number): Promise<void> => {
    systemClock.after(limitMs, () => exitProcess(1), { unref: true });
    if (isEnding) return;
    isEnding = true;
    await worker?.close();
    exitProcess(0);
  };
  const channel: WorkerChannel = new MessageChannel<WorkerToSupervisor, SupervisorToWorker>(
    socket,
    {
      message: (message) => {
        switch (message.kind) {
          case 'hello':
            return checkHello(message);
          case 'start':
            // Nothing else comes before the answer to it.
            return void warmedUp.then(() => worker?.receive(message));
          case 'shutdown':
            return void end(SHUTDOWN_EXIT_LIMIT_MS);
          default:
            worker?.receive(message);
        }
      },
      closed: () => void end(ORPHAN_EXIT_LIMIT_MS),
    },
  );
  channel.post({
    kind: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    buildId: buildId(),
    pid: process.pid,
  });
  worker = new CommandedWorker(channel, systemClock);
  const warmedUp = warmUp(systemClock);
  // Ends a worker whose loop is stuck; one that died before this call closed the channel instead.
  dieWithParent();
  closeUnaskedInspector();
}

/** The supervisor says why when builds differ; here it only matters that no message is misread. */
function checkHello(hello: Hello): void {
  if (hello.protocolVersion !== PROTOCOL_VERSION || hello.buildId !== buildId()) exitProcess(1);
}
