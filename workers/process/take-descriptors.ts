/** The descriptors that the supervisor sends to a worker: shared memory first, then sockets. */
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { receiveDescriptorMessage } from '../../shared/posix/descriptor-messages.ts';
import { WORKER_DESCRIPTOR_FD, type SharedPages } from '../../shared/messages/heritage.ts';
import type { AdoptedSocket } from '../../shared/messages/supervisor-to-worker.ts';

export function takePages(): SharedPages {
  const [outlierFd = -1, breakerFd = -1, rateLimitFd = -1, scriptFd = -1] = takeDescriptors(4);
  return { outlierFd, breakerFd, rateLimitFd, scriptFd };
}

export function takeSockets(
  sockets: readonly AdoptedSocket[],
): readonly (AdoptedSocket & { readonly fd: number })[] {
  const descriptors = takeDescriptors(sockets.length);
  return sockets.map((socket, position) => ({ ...socket, fd: descriptors[position] as number }));
}

/** They were sent before the message that announces them, so that they are all here. */
function takeDescriptors(count: number): readonly number[] {
  const descriptors: number[] = [];
  while (descriptors.length < count) {
    const message = receiveDescriptorMessage(WORKER_DESCRIPTOR_FD);
    if (message === undefined || message.descriptors.length === 0) {
      descriptors.forEach(closeDescriptor);
      throw new Error(`${descriptors.length} of ${count} descriptors arrived`);
    }
    descriptors.push(...message.descriptors);
  }
  return descriptors;
}
