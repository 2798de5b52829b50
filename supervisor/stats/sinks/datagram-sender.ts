/** Sends datagrams to a host or to a unix socket, without waiting and without an answer. */
import type { DatagramTarget, SocketAddress } from './stats-sink.ts';

export interface DatagramSender {
  send(datagram: string): void;
  /** Resolves when what was sent is on its way. */
  close(): Promise<void>;
}

/** The modules of the kind of socket that is needed are loaded here. */
export async function openDatagramSender(target: DatagramTarget): Promise<DatagramSender> {
  return 'path' in target ? openUnixSender(target.path) : openUdpSender(target);
}

async function openUdpSender({ address, port }: SocketAddress): Promise<DatagramSender> {
  const { createSocket } = await import('node:dgram');
  const open = (): ReturnType<typeof createSocket> => {
    const made = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    // A receiver that is not there answers by ICMP, which becomes an error of the socket.
    made.on('error', () => {
      if (socket === made) socket = undefined;
      made.close();
      allSent();
    });
    made.unref();
    return made;
  };
  let socket: ReturnType<typeof open> | undefined;
  let pending = 0;
  let allSent: () => void = () => undefined;
  return {
    send: (datagram) => {
      socket ??= open();
      pending += 1;
      // Even an address is looked up in a later turn; a socket that is closed before sends nothing.
      socket.send(datagram, port, address, () => {
        pending -= 1;
        if (pending === 0) allSent();
      });
    },
    close: async () => {
      if (socket === undefined) return;
      if (pending > 0) await new Promise<void>((resolve) => (allSent = resolve));
      socket?.close();
      socket = undefined;
    },
  };
}

/** The runtime has no datagram sockets in the file system. */
async function openUnixSender(path: string): Promise<DatagramSender> {
  const { openSocket } = await import('../../../shared/posix/sockets.ts');
  const { closeDescriptor } = await import('../../../shared/posix/descriptors.ts');
  const { SOCK_DGRAM } = await import('../../../shared/posix/layout.ts');
  const { PosixError } = await import('../../../shared/posix/posix-error.ts');
  const { sendDescriptorMessage } = await import('../../../shared/posix/descriptor-messages.ts');
  const to = { kind: 'pipe', path } as const;
  const fd = openSocket(to, SOCK_DGRAM);
  return {
    send: (datagram) => {
      try {
        sendDescriptorMessage(fd, Buffer.from(datagram), [], to);
      } catch (error) {
        // Nobody is bound there now, as over UDP.
        if (!(error instanceof PosixError)) throw error;
      }
    },
    close: () => {
      closeDescriptor(fd);
      return Promise.resolve();
    },
  };
}
