/**
 * What byte streams over the runtime's TLS handles have in common. Reads land in the loop's shared
 * buffer. The handle encrypts one write at a time, so what is written meanwhile waits here; and it
 * may report what it has decrypted already after reading was stopped, which waits here too.
 */
import type { HeldBytes } from '../../loop/held-bytes.ts';
import { AddressedStream } from '../addressed-stream.ts';
import type { ByteStream, ByteStreamOwner, StreamAddresses } from '../byte-stream.ts';
import { systemError, UV_EOF } from '../connection-errors.ts';
import type { RuntimeHandles, StreamHandle } from '../runtime-handles.ts';

export interface EncryptedStreamOptions {
  readonly handles: RuntimeHandles;
  /** Shared by all streams of a loop: each read is consumed before the next. */
  readonly readBuffer: Buffer;
  /** Bytes that may wait before a write says so. */
  readonly limitBytes: number;
  /** The bytes held by the loop. */
  readonly held: HeldBytes;
  readonly owner: ByteStreamOwner;
}

interface OwnedHandle extends StreamHandle {
  stream?: EncryptedStream;
}

interface QueuedWrite {
  text: string;
  readonly block?: Uint8Array;
  readonly onWritten?: () => void;
}

export abstract class EncryptedStream extends AddressedStream implements ByteStream {
  pendingBytes = 0;
  protected readonly options: EncryptedStreamOptions;
  protected readonly owner: ByteStreamOwner;
  protected isPeerEnded = false;
  protected isHalfOpen = false;
  protected closesAfterWrites = false;
  /** Set when the handshake is done. */
  #handle: OwnedHandle | undefined = undefined;
  readonly #queue: QueuedWrite[] = [];
  readonly #held: Buffer[] = [];
  /** What the handle is writing; it says nothing of it when it is closed meanwhile. */
  #present: QueuedWrite | undefined = undefined;
  #isPaused = false;
  #isEndReported = false;
  #isEndAsked = false;

  constructor(addresses: StreamAddresses, options: EncryptedStreamOptions) {
    super(addresses);
    this.options = options;
    this.owner = options.owner;
  }

  /** Closed or about to be: nothing can be written or read. */
  protected abstract get isOver(): boolean;
  /** Whether the end of what is written was sent. */
  protected abstract get hasEnded(): boolean;
  /** Sends the end of what is written; nothing waits to be written. */
  protected abstract sendEnd(): void;
  /** Closes from within; the owner is told. */
  protected abstract finish(error: NodeJS.ErrnoException | undefined): void;
  abstract close(): void;

  writeText(text: string): boolean {
    const last = this.#queue.at(-1);
    if (last === undefined || last.block !== undefined) return this.#enqueue({ text }, text.length);
    last.text += text;
    return this.#count(text.length);
  }

  writeBlock(block: Uint8Array, onWritten: () => void): boolean {
    return this.#enqueue({ text: '', block, onWritten }, block.length);
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    if (!this.isOver) this.#handle?.readStop();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // The end may have come while the last piece was held.
    const hasMore = this.#held.length > 0 || this.isPeerEnded;
    if (hasMore) process.nextTick(() => this.#deliverHeld());
    else this.#startReading();
  }

  keepHalfOpen(): void {
    this.isHalfOpen = true;
  }

  end(): void {
    this.#isEndAsked = true;
    if (this.pendingBytes === 0) this.sendEnd();
  }

  closeAfterWrites(): void {
    this.closesAfterWrites = true;
    this.end();
  }

  /** What TLS wraps has no reset of its own. */
  reset(): void {
    this.close();
  }

  /** The handle has decrypted something, or something ended its reading. */
  onReadable(): void {
    const length = this.options.handles.readLength();
    if (length === 0 || this.isOver) return;
    if (length > 0) {
      const { readBuffer } = this.options;
      if (this.#isPaused) this.#held.push(Buffer.from(readBuffer.subarray(0, length)));
      else this.owner.onStreamData(length, readBuffer);
    } else if (length === UV_EOF) {
      this.isPeerEnded = true;
      if (this.#held.length === 0) this.#endReading();
    } else {
      this.finish(systemError(length, 'read'));
    }
  }

  /** The handshake is done: writes go to the handle from now on. */
  protected takeHandle(handle: StreamHandle): void {
    const owned: OwnedHandle = handle;
    this.#handle = owned;
    owned.stream = this;
    owned.onread = onRead;
    owned.useUserBuffer(this.options.readBuffer);
    if (this.#isPaused) owned.readStop();
    this.#writeNext();
  }

  /** What was being written is given back: OpenSSL has a copy of what it has not encrypted yet. */
  protected dropWrites(): void {
    this.#present?.onWritten?.();
    this.#present = undefined;
    for (const { onWritten } of this.#queue.splice(0)) onWritten?.();
    this.options.held.add(-this.pendingBytes);
    this.pendingBytes = 0;
  }

  #deliverHeld(): void {
    while (!this.#isPaused && !this.isOver) {
      const piece = this.#held.shift();
      if (piece === undefined) break;
      this.owner.onStreamData(piece.length, piece);
    }
    if (this.#isPaused || this.isOver) return;
    if (this.isPeerEnded) this.#endReading();
    else this.#startReading();
  }

  #startReading(): void {
    if (this.isOver || this.isPeerEnded) return;
    this.#handle?.readStart();
  }

  #endReading(): void {
    if (this.#isEndReported) return;
    this.#isEndReported = true;
    this.owner.onStreamEnd();
    if (this.isOver) return;
    if (this.hasEnded) this.finish(undefined);
    else if (!this.isHalfOpen) this.end();
  }

  #enqueue(write: QueuedWrite, length: number): boolean {
    if (this.isOver) {
      write.onWritten?.();
      return true;
    }
    this.#queue.push(write);
    const hasRoom = this.#count(length);
    this.#writeNext();
    return hasRoom;
  }

  #count(length: number): boolean {
    const { held, limitBytes } = this.options;
    this.pendingBytes += length;
    held.add(length);
    return this.pendingBytes < limitBytes && !held.isTight;
  }

  #writeNext(): void {
    const handle = this.#handle;
    if (this.#present !== undefined || handle === undefined || this.isOver) return;
    const write = this.#queue.shift();
    if (write === undefined) return;
    this.#present = write;
    const { text, block } = write;
    const request = this.options.handles.newWrite();
    request.oncomplete = (status) => this.#onWritten(write, status);
    const status =
      block === undefined
        ? handle.writeLatin1String(request, text)
        : handle.writeBuffer(request, block);
    if (block !== undefined) request.buffer = block;
    if (status !== 0 || !this.options.handles.wasAsync()) this.#onWritten(write, status);
  }

  #onWritten(write: QueuedWrite, status: number): void {
    if (this.#present !== write) return;
    this.#present = undefined;
    const length = write.block?.length ?? write.text.length;
    this.pendingBytes -= length;
    this.options.held.add(-length);
    write.onWritten?.();
    if (this.isOver) return;
    if (status !== 0) {
      this.finish(systemError(status, 'write'));
      return;
    }
    this.#writeNext();
    if (this.pendingBytes > 0) return;
    if (this.#isEndAsked) this.sendEnd();
    this.owner.onStreamDrain();
  }
}

function onRead(this: OwnedHandle): void {
  this.stream?.onReadable();
}
