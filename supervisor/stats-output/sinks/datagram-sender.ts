/** Sends datagrams to a host or to a unix socket, without waiting and without an answer. */
import type { Socket } from 'node:dgram';
import type { DatagramTarget, SocketAddress } from '../../stats/sink-config.ts';

export interface DatagramSender {
  send(datagram: string): void;
  /** Resolves when what was sent is on its way. */
  close(): Promise<void>;
}

/** The modules of the kind of socket that is needed are loaded here. */
export async function openDatagramSender(target: DatagramTarget): Promise<DatagramSender> {
  return 'path' in target ? openUnixSender(target.path) : openUdpSender(target);
}

interface ConnectedSocket {
  readonly socket: Socket;
  readonly isReady: Promise<void>;
}

async function openUdpSender({ address, port }: SocketAddress): Promise<DatagramSender> {
  const { createSocket } = await import('node:dgram');
  const open = (): ConnectedSocket => {
    const made = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    // A receiver that is not there answers by ICMP, which becomes an error of the socket.
    made.on('error', () => {
      if (connected?.socket === made) connected = undefined;
      made.close();
      allSent();
    });
    made.unref();
    // The kernel passes on what the receiver sends, and nobody else's datagrams are read here.
    const isReady = new Promise<void>((resolve) => {
      made.once('connect', resolve);
      made.once('error', () => resolve());
    });
    made.connect(port, address);
    return { socket: made, isReady };
  };
  let connected: ConnectedSocket | undefined;
  let pending = 0;
  let allSent: () => void = () => undefined;
  const done = (): void => {
    pending -= 1;
    if (pending === 0) allSent();
  };
  return {
    send: (datagram) => {
      connected ??= open();
      const { socket, isReady } = connected;
      pending += 1;
      // One that was closed meanwhile, by an error, sends nothing.
      void isReady.then(() =>
        connected?.socket === socket ? socket.send(datagram, done) : done(),
      );
    },
    close: async () => {
      if (connected === undefined) return;
      if (pending > 0) await new Promise<void>((resolve) => (allSent = resolve));
      connected?.socket.close();
      connected = undefined;
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
