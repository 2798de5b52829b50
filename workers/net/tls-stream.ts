/**
 * A byte stream over a TLS socket whose handshake belongs to node:tls. Once it is done, reads and
 * writes go to the inner handle directly, past the socket's two stream states: reads land in the
 * loop's shared buffer. Errors, ends and the close stay the socket's.
 *
 * The handle encrypts one write at a time, so what is written meanwhile waits here; and it may report
 * what it has decrypted already after reading was stopped, which waits here too.
 */
import type tls from 'node:tls';
import type { ByteStream, ByteStreamOwner } from './byte-stream.ts';
import { systemError, UV_EOF } from './handle-errors.ts';
import type { RuntimeHandles, StreamHandle } from './runtime-handles.ts';
import { SocketAddresses } from './socket-addresses.ts';

export interface TlsStreamOptions {
  readonly handles: RuntimeHandles;
  /** Shared by all streams of a loop: each read is consumed before the next. */
  readonly readBuffer: Buffer;
  readonly owner: ByteStreamOwner;
}

interface OwnedHandle extends StreamHandle {
  stream?: TlsStream;
}

interface QueuedWrite {
  text: string;
  readonly block?: Uint8Array;
  readonly onWritten?: () => void;
}

export class TlsStream extends SocketAddresses<tls.TLSSocket> implements ByteStream {
  pendingBytes = 0;
  private readonly options: TlsStreamOptions;
  private readonly owner: ByteStreamOwner;
  private readonly limitBytes: number;
  private handle: OwnedHandle | undefined;
  private readonly queue: QueuedWrite[] = [];
  private readonly held: Buffer[] = [];
  /** What the handle is writing; it says nothing of it when the socket is closed meanwhile. */
  private present: QueuedWrite | undefined;
  private isPaused = false;
  private isHalfOpen = false;
  private isPeerEnded = false;
  private isEndAsked = false;
  private closesAfterWrites = false;
  private needsDrain = false;
  /** Closed from here: nothing more is said. */
  private isClosed = false;

  constructor(socket: tls.TLSSocket, options: TlsStreamOptions) {
    super(socket);
    this.options = options;
    this.owner = options.owner;
    this.limitBytes = socket.writableHighWaterMark;
    socket.on('secure', () => this.takeHandle());
    socket.on('secureConnect', () => {
      // A peer that was refused in the same event is gone.
      if (!socket.destroyed) this.owner.onStreamConnect();
    });
    socket.on('finish', () => {
      if (this.isPeerEnded || this.closesAfterWrites) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => this.owner.onStreamClose(error));
    socket.on('close', () => this.onSocketClosed());
  }

  writeText(text: string): boolean {
    const last = this.queue.at(-1);
    if (last === undefined || last.block !== undefined) return this.enqueue({ text }, text.length);
    last.text += text;
    return this.count(text.length);
  }

  writeBlock(block: Uint8Array, onWritten: () => void): boolean {
    return this.enqueue({ text: '', block, onWritten }, block.length);
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.handle?.readStop();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.held.length > 0) process.nextTick(() => this.deliverHeld());
    else this.startReading();
  }

  keepHalfOpen(): void {
    this.isHalfOpen = true;
    this.socket.allowHalfOpen = true;
  }

  end(): void {
    this.isEndAsked = true;
    if (this.pendingBytes === 0) this.socket.end();
  }

  closeAfterWrites(): void {
    this.closesAfterWrites = true;
    this.end();
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  /** What TLS wraps has no reset of its own. */
  reset(): void {
    this.close();
  }

  /** The handle has decrypted something, or something ended its reading. */
  onReadable(): void {
    const length = this.options.handles.readLength();
    if (length === 0 || this.socket.destroyed) return;
    if (length > 0) {
      const { readBuffer } = this.options;
      if (this.isPaused) this.held.push(Buffer.from(readBuffer.subarray(0, length)));
      else this.owner.onStreamData(length, readBuffer);
    } else if (length === UV_EOF) {
      this.isPeerEnded = true;
      if (this.held.length === 0) this.endReading();
    } else {
      this.socket.destroy(systemError(length, 'read'));
    }
  }

  /** The handshake is done. */
  private takeHandle(): void {
    const handle = (this.socket as unknown as { _handle: OwnedHandle | null })._handle;
    if (handle === null || this.socket.destroyed) return;
    this.handle = handle;
    handle.stream = this;
    handle.onread = onRead;
    handle.useUserBuffer(this.options.readBuffer);
    if (this.isPaused) handle.readStop();
    this.writeNext();
  }

  private deliverHeld(): void {
    while (!this.isPaused && !this.socket.destroyed) {
      const piece = this.held.shift();
      if (piece === undefined) break;
      this.owner.onStreamData(piece.length, piece);
    }
    if (this.isPaused || this.socket.destroyed) return;
    if (this.isPeerEnded) this.endReading();
    else this.startReading();
  }

  private startReading(): void {
    if (this.socket.destroyed || this.isPeerEnded) return;
    this.handle?.readStart();
  }

  private endReading(): void {
    this.owner.onStreamEnd();
    if (this.socket.destroyed) return;
    if (this.socket.writableFinished) this.socket.destroy();
    else if (!this.isHalfOpen) this.end();
  }

  private enqueue(write: QueuedWrite, length: number): boolean {
    if (this.socket.destroyed) {
      write.onWritten?.();
      return true;
    }
    this.queue.push(write);
    const hasRoom = this.count(length);
    this.writeNext();
    return hasRoom;
  }

  private count(length: number): boolean {
    this.pendingBytes += length;
    if (this.pendingBytes < this.limitBytes) return true;
    this.needsDrain = true;
    return false;
  }

  private writeNext(): void {
    const { handle } = this;
    if (this.present !== undefined || handle === undefined || this.socket.destroyed) return;
    const write = this.queue.shift();
    if (write === undefined) return;
    this.present = write;
    const { text, block } = write;
    const request = this.options.handles.newWrite();
    request.oncomplete = (status) => this.onWritten(write, status);
    const status =
      block === undefined
        ? handle.writeLatin1String(request, text)
        : handle.writeBuffer(request, block);
    if (block !== undefined) request.buffer = block;
    if (status !== 0 || !this.options.handles.wasAsync()) this.onWritten(write, status);
  }

  private onWritten(write: QueuedWrite, status: number): void {
    if (this.present !== write) return;
    this.present = undefined;
    this.pendingBytes -= write.block?.length ?? write.text.length;
    write.onWritten?.();
    if (this.socket.destroyed) return;
    if (status !== 0) {
      this.socket.destroy(systemError(status, 'write'));
      return;
    }
    this.writeNext();
    if (this.pendingBytes > 0) return;
    if (this.isEndAsked) this.socket.end();
    if (!this.needsDrain) return;
    this.needsDrain = false;
    this.owner.onStreamDrain();
  }

  private onSocketClosed(): void {
    // OpenSSL has a copy of what it has not encrypted yet.
    this.present?.onWritten?.();
    this.present = undefined;
    for (const { onWritten } of this.queue.splice(0)) onWritten?.();
    if (!this.isClosed) this.owner.onStreamClose(undefined);
  }
}

function onRead(this: OwnedHandle): void {
  this.stream?.onReadable();
}
