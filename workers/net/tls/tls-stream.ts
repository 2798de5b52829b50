/**
 * A byte stream over a TLS socket whose handshake belongs to node:tls. Once it is done, reads and
 * writes go to the inner handle directly, past the socket's two stream states. Errors, ends and the
 * close stay the socket's.
 */
import type tls from 'node:tls';
import { EncryptedStream, type EncryptedStreamOptions } from './encrypted-stream.ts';
import type { StreamHandle } from '../runtime-handles.ts';

export class TlsStream extends EncryptedStream {
  readonly #socket: tls.TLSSocket;
  /** Closed from here: nothing more is said. */
  #isClosed = false;

  constructor(socket: tls.TLSSocket, options: Omit<EncryptedStreamOptions, 'limitBytes'>) {
    super(socket, { ...options, limitBytes: socket.writableHighWaterMark });
    this.#socket = socket;
    socket.on('secure', () => this.#onSecure());
    socket.on('secureConnect', () => {
      // A peer that was refused in the same event is gone.
      if (!socket.destroyed) this.owner.onStreamConnect();
    });
    socket.on('finish', () => {
      if (this.isPeerEnded || this.closesAfterWrites) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => this.owner.onStreamClose(error));
    socket.on('close', () => this.#onSocketClosed());
  }

  override keepHalfOpen(): void {
    super.keepHalfOpen();
    this.#socket.allowHalfOpen = true;
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  protected get isOver(): boolean {
    return this.#socket.destroyed;
  }

  protected get hasEnded(): boolean {
    return this.#socket.writableFinished;
  }

  protected sendEnd(): void {
    this.#socket.end();
  }

  protected finish(error: NodeJS.ErrnoException | undefined): void {
    this.#socket.destroy(error);
  }

  #onSecure(): void {
    const handle = (this.#socket as unknown as { _handle: StreamHandle | null })._handle;
    if (handle !== null && !this.#socket.destroyed) this.takeHandle(handle);
  }

  #onSocketClosed(): void {
    this.dropWrites();
    if (!this.#isClosed) this.owner.onStreamClose(undefined);
  }
}
