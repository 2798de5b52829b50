/**
 * Senders of datagrams to unix sockets as no epoch sends them: of any size, with any descriptors,
 * under a name or without one, and from processes of another user.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { closeDescriptor } from '../../../shared/posix/descriptors.ts';
import { sendDescriptorMessage } from '../../../shared/posix/descriptor-messages.ts';
import { SOCK_DGRAM } from '../../../shared/posix/layout.ts';
import { check, lastErrno, libcFunction } from '../../../shared/posix/libc.ts';
import {
  encodeSocketAddress,
  type UnixSocketAddress,
} from '../../../shared/posix/socket-address.ts';
import { bindSocket, openSocket } from '../../../shared/posix/sockets.ts';
import { waitUntil } from '../wait.ts';

const sendto = libcFunction<[number, Buffer, number, number, Buffer, number], number>(
  'int64_t sendto(int, const uint8_t *, size_t, int, const uint8_t *, uint32_t)',
);
const EAGAIN = 11;
const EPERM = 1;

let names = 0;

export interface DatagramSender {
  /** Resolves when the receiver's queue has taken it. */
  send(data: Buffer, descriptors?: readonly number[]): Promise<void>;
  close(): void;
}

/** One socket with a name of its own, or without any. */
export function openSender(to: UnixSocketAddress, isNamed = true): DatagramSender {
  const fd = openSocket(to, SOCK_DGRAM);
  names += 1;
  if (isNamed) bindSocket(fd, { kind: 'pipe', path: `@sluice-sender-${process.pid}-${names}` });
  return {
    send: async (data, descriptors = []) => {
      await waitUntil('room in the queue', () =>
        descriptors.length > 0
          ? sendDescriptorMessage(fd, data, descriptors, to)
          : put(fd, data, to),
      );
    },
    close: () => closeDescriptor(fd),
  };
}

/** Without the limits of our own sender; false where there is no room or no permission now. */
function put(fd: number, data: Buffer, to: UnixSocketAddress): boolean {
  const name = encodeSocketAddress(to);
  const sent = sendto(fd, Buffer.from(data), data.length, 0, name, name.length);
  if (sent < 0 && [EAGAIN, EPERM].includes(lastErrno())) return false;
  check(sent, 'sendto');
  return true;
}

export interface StrangerTask {
  readonly uid: number;
  readonly to: UnixSocketAddress;
  /** Each is a datagram. */
  readonly hex: readonly string[];
  /** Goes on for ever, waiting in the kernel whenever the queue is full. */
  readonly isFlood?: boolean;
}

/** A process of that user; needs root. It says `sent` when it has sent everything once. */
export async function startStranger(task: StrangerTask): Promise<ChildProcess> {
  const main = join(import.meta.dirname, 'stranger-main.js');
  const child = spawn(process.execPath, [main, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}
