/** A byte stream over a socket of node:net or node:tls; its data arrive as events. */
import net from 'node:net';
import type tls from 'node:tls';
import { AddressedStream } from './addressed-stream.ts';
import type { ByteStream, ByteStreamOwner } from './byte-stream.ts';
import type { StreamHandle } from './runtime-handles.ts';

export class SocketStream extends AddressedStream implements ByteStream {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket, owner: ByteStreamOwner) {
    super(socket);
    this.#socket = socket;
    // TLS can be written to after its handshake.
    socket.on('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      // A peer that was refused in the same event is gone.
      if (!socket.destroyed) owner.onStreamConnect();
    });
    socket.on('data', (piece: Buffer) => owner.onStreamData(piece.length, piece));
    socket.on('drain', () => owner.onStreamDrain());
    socket.on('end', () => owner.onStreamEnd());
    socket.on('error', (error) => owner.onStreamClose(error));
    socket.on('close', () => owner.onStreamClose(undefined));
  }

  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  writeText(text: string): boolean {
    return this.#socket.write(text, 'latin1');
  }

  writeBlock(data: Uint8Array, onWritten: () => void): boolean {
    return this.#socket.write(data, onWritten);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  keepHalfOpen(): void {
    this.#socket.allowHalfOpen = true;
  }

  end(): void {
    this.#socket.end();
  }

  closeAfterWrites(): void {
    this.#socket.destroySoon();
  }

  close(): void {
    this.#socket.destroy();
  }

  reset(): void {
    // What TLS wrapped has no reset of its own.
    if ('encrypted' in this.#socket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }
}

/** A socket of node:net for an open handle. */
export function socketOfHandle(handle: StreamHandle): net.Socket {
  const options: net.SocketConstructorOpts & { readonly handle: StreamHandle } = { handle };
  return new net.Socket(options);
}

export function isTls(socket: net.Socket): socket is tls.TLSSocket {
  return 'encrypted' in socket;
}
