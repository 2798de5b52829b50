/**
 * Accepts connections from an adopted listening descriptor. What it hands out is what a transport
 * is made of; it knows no protocol.
 *
 * node:net makes a socket of its own for every connection, which costs more than the rest of accepting
 * it, and reads into a buffer of its own. The listening handle's callback is therefore replaced by one that passes the accepted
 * handle on. Where a runtime does not have that callback, the ordinary event is used: slower, the same
 * in every other way.
 */
import net from 'node:net';
import type { ListeningDescriptor } from '../data-plane.ts';
import type { StreamHandle } from '../net/runtime-handles.ts';

export type Accepted =
  /** An open handle, connected. */
  | { readonly kind: 'handle'; readonly handle: StreamHandle }
  | { readonly kind: 'socket'; readonly socket: net.Socket };

interface ListeningHandle {
  onconnection?: (status: number, handle: StreamHandle | undefined) => void;
}

export class Acceptor {
  readonly #server: net.Server;
  readonly #onAccept: (accepted: Accepted) => void;

  private constructor(server: net.Server, onAccept: (accepted: Accepted) => void) {
    this.#server = server;
    this.#onAccept = onAccept;
  }

  /** Rejects when the descriptor is not a listening socket. */
  static async listen(
    descriptor: ListeningDescriptor,
    onAccept: (accepted: Accepted) => void,
  ): Promise<Acceptor> {
    const server = net.createServer({ noDelay: true });
    const acceptor = new Acceptor(server, onAccept);
    server.on('connection', (socket: net.Socket) => onAccept({ kind: 'socket', socket }));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // The runtime takes the backlog of a descriptor from this argument alone, not from the options.
      server.listen({ fd: descriptor.fd }, descriptor.backlog, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
    acceptor.#takeHandles();
    return acceptor;
  }

  /** Resolves when the descriptor is closed. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #takeHandles(): void {
    const handle = (this.#server as unknown as { _handle?: ListeningHandle | null })._handle;
    if (typeof handle?.onconnection !== 'function') return;
    handle.onconnection = (status, accepted) => {
      // A client that gave up before it was accepted, or no descriptors left: the next event retries.
      if (status !== 0 || accepted === undefined) return;
      accepted.setNoDelay?.(true);
      this.#onAccept({ kind: 'handle', handle: accepted });
    };
  }
}
