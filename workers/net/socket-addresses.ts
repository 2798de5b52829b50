/** The addresses of a byte stream that stands on a socket of node:net or node:tls. */
import type net from 'node:net';
import type { StreamAddresses } from './byte-stream.ts';

export class SocketAddresses<Socket extends net.Socket> implements StreamAddresses {
  protected readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.socket.remotePort;
  }

  get localAddress(): string | undefined {
    return this.socket.localAddress;
  }

  get localPort(): number | undefined {
    return this.socket.localPort;
  }
}
