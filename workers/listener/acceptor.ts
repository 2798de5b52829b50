/**
 * Accepts connections from an adopted listening descriptor. What it hands out is what a transport
 * is made of; it knows no protocol.
 *
 * node:net makes a socket of its own for every connection, which costs more than the rest of
 * accepting it, and reads into a buffer of its own. The listening handle's callback is therefore
 * replaced by one that passes the accepted handle on. Where a runtime does not have that callback,
 * the ordinary event is used: slower, the same in every other way.
 *
 * The runtime accepts one connection in each turn of its loop, so that behind a thousand busy
 * connections new ones would wait for seconds. What waits is therefore taken in the same event.
 */
import net from 'node:net';
import type { ListeningDescriptor } from './listener-commands.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { acceptWaiting } from '../../shared/posix/sockets.ts';
import { runtimeHandles, type StreamHandle } from '../net/runtime-handles.ts';

/** Connections taken in one event; open ones get their turn in between. */
const MAX_PER_EVENT = 64;
/**
 * Waiting connections that are taken before the socket is closed: as many as a kernel lets wait.
 */
const MAX_AT_END = 65_536;

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
  readonly #fd: number;
  readonly #isUnix: boolean;
  #isClosed = false;

  private constructor(
    server: net.Server,
    { fd, address }: ListeningDescriptor,
    onAccept: (accepted: Accepted) => void,
  ) {
    this.#server = server;
    this.#fd = fd;
    this.#isUnix = address.kind === 'pipe';
    this.#onAccept = onAccept;
  }

  /** Rejects when the descriptor is not a listening socket. */
  static async listen(
    descriptor: ListeningDescriptor,
    onAccept: (accepted: Accepted) => void,
  ): Promise<Acceptor> {
    const server = net.createServer({ noDelay: true });
    const acceptor = new Acceptor(server, descriptor, onAccept);
    server.on('connection', (socket: net.Socket) => onAccept({ kind: 'socket', socket }));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // The runtime takes the backlog of a descriptor from this argument alone, not from the
      // options.
      server.listen({ fd: descriptor.fd }, descriptor.backlog, () => {
        server.removeListener('error', reject);
        resolve();
      });
    });
    acceptor.#takeHandles();
    return acceptor;
  }

  /**
   * Resolves when the descriptor is closed. `takesWaiting`: connections that wait in it are taken
   * first.
   */
  async close(takesWaiting: boolean): Promise<void> {
    if (takesWaiting) this.#takeWaiting(MAX_AT_END);
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #takeHandles(): void {
    const handle = (this.#server as unknown as { _handle?: ListeningHandle | null })._handle;
    if (typeof handle?.onconnection !== 'function') return;
    handle.onconnection = (status, accepted) => {
      // A client that gave up before it was accepted, or no descriptors left: the next event
      // retries.
      if (status !== 0 || accepted === undefined) return;
      this.#take(accepted);
      this.#takeWaiting(MAX_PER_EVENT - 1);
    };
  }

  #takeWaiting(most: number): void {
    if (runtimeHandles === undefined) return;
    for (let count = 0; count < most && !this.#isClosed; count++) {
      const fd = acceptWaiting(this.#fd);
      if (fd === undefined) return;
      const handle = this.#isUnix ? runtimeHandles.newPipe() : runtimeHandles.newTcp();
      if (handle.open(fd) === 0) this.#take(handle);
      else closeDescriptor(fd);
    }
  }

  #take(handle: StreamHandle): void {
    handle.setNoDelay?.(true);
    this.#onAccept({ kind: 'handle', handle });
  }
}
