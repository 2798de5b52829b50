/**
 * Two ends of a connection inside of this process, with what the data path uses of a socket of
 * node:net: for clusters whose hosts are listeners of the same worker. What one end wrote waits at
 * the other up to the stream's own limit; then the writer waits.
 */
import type net from 'node:net';
import { Duplex } from 'node:stream';

/** Where every connection comes from, as Envoy prints it. */
const CLIENT_ADDRESS = 'envoy://internal_client_address/';

interface SocketPair {
  readonly client: net.Socket;
  readonly server: net.Socket;
}

/** `address` is the server's end, such as `envoy://listener/endpoint`. */
export function connectedPair(address: string): SocketPair {
  const client = new InternalSocket(CLIENT_ADDRESS, address);
  const server = new InternalSocket(address, CLIENT_ADDRESS);
  client.peer = server;
  server.peer = client;
  // The taker of a socket uses no more of it than there is here.
  return {
    client: client as unknown as net.Socket,
    server: server as unknown as net.Socket,
  };
}

class InternalSocket extends Duplex {
  readonly localAddress: string;
  readonly remoteAddress: string;
  readonly localPort = 0;
  readonly remotePort = 0;
  peer: InternalSocket | undefined = undefined;
  /** Called when the peer has room again for what was written last. */
  #onRoom: (() => void) | undefined = undefined;
  #isEndSent = false;

  constructor(localAddress: string, remoteAddress: string) {
    super({ allowHalfOpen: true });
    this.localAddress = localAddress;
    this.remoteAddress = remoteAddress;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    if (!this.writableEnded) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    this.#isEndSent = true;
    this.peer?.destroy(resetError());
    return this.destroy();
  }

  override _read(): void {
    const { peer } = this;
    if (peer === undefined) return;
    const onRoom = peer.#onRoom;
    if (onRoom === undefined) return;
    peer.#onRoom = undefined;
    onRoom();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const { peer } = this;
    if (peer === undefined || peer.destroyed) {
      done(resetError());
      return;
    }
    // The writer may use its buffer again once this is done.
    if (peer.push(Buffer.from(data))) done();
    else this.#onRoom = done;
  }

  override _final(done: (error?: Error) => void): void {
    this.#sendEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#sendEnd();
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom?.();
    // Nobody reads here any more: the peer's writes fail instead of waiting.
    const { peer } = this;
    if (peer !== undefined) {
      const waiting = peer.#onRoom;
      peer.#onRoom = undefined;
      waiting?.();
    }
    done(error);
  }

  #sendEnd(): void {
    if (this.#isEndSent) return;
    this.#isEndSent = true;
    if (this.peer?.destroyed === false) this.peer.push(null);
  }
}

function resetError(): NodeJS.ErrnoException {
  return Object.assign(new Error('the other end is closed'), { code: 'ECONNRESET' });
}
