/**
 * One byte stream, TCP, unix or TLS: reads without allocating, writes gathered per event,
 * back-pressure in both directions. Knows no protocol; its handler does.
 *
 * Reads of plain streams land in the loop's shared buffer, valid during `onData` only. Writes are
 * gathered as latin-1 text, because the runtime copies a short string to the stack and tries to
 * send it at once: no buffer, no request object. Longer pieces are copied into pooled blocks.
 */
import { systemError, UV_ECONNABORTED } from './connection-errors.ts';
import net from 'node:net';
import type { Flushable, WorkerLoop } from '../loop/worker-loop.ts';
import type {
  ByteCounters,
  ByteStream,
  ByteStreamOwner,
  ConnectOptions,
  StreamAddresses,
  TransportParts,
} from './byte-stream.ts';
import { connectLocalSocket } from './local-socket.ts';
import { EncryptedStream } from './encrypted-stream.ts';
import { type ConnectTo, HandleStream, handleOptions } from './handle-stream.ts';
import { runtimeHandles, type StreamHandle } from './runtime-handles.ts';
import { isTls, SocketStream, socketOfHandle } from './socket-stream.ts';
import { TlsStream } from './tls-stream.ts';
import { watchedStream } from './transport-watcher.ts';
import type { Wire, WriteObserver } from './wire.ts';
import { giveBackBlock, OpenBlock, takeBlock } from './write-blocks.ts';

/** Pieces up to these lengths travel as text, the second where writes are gathered. */
const MAX_TEXT_PIECE = 8 * 1024;
const MAX_GATHERED_TEXT_PIECE = 1024;
/** The runtime encodes strings up to 16 KiB on the stack. */
const MAX_TEXT = 16 * 1024 - 64;

export interface TransportHandler {
  onConnect(): void;
  /** The peer sends nothing more; only of transports that were told to `keepHalfOpen`. */
  onRemoteEnd?(): void;
  /** `input` from `start` to `end`; valid during the call only. */
  onData(input: Buffer, start: number, end: number): void;
  /** The peer closed, or the connection broke (`error`). Nothing follows. */
  onRemoteClose(error: NodeJS.ErrnoException | undefined): void;
  onWriteBlocked(blocked: boolean): void;
  /**
   * Code that worked for the connection threw. What was written may still leave. Absent: the
   * connection is reset, and the handler hears of its end.
   */
  onException?(): void;
}

export class Transport implements Flushable, Wire, ByteStreamOwner {
  readonly #stream: ByteStream;
  /** What carries the bytes, under whoever watches them. */
  readonly #carrier: ByteStream;
  readonly #loop: WorkerLoop;
  readonly #handler: TransportHandler;
  readonly #counters: ByteCounters | undefined;
  #text = '';
  #isDirty = false;
  /** Of a transport that writes once in a turn. */
  #gathered: OpenBlock | undefined = undefined;
  #observer: WriteObserver | undefined = undefined;
  #isBlocked = false;
  #isClosed = false;
  #isHalfOpen = false;
  #pauses = 0;
  /** Bytes of the last read, which `counters.waiting` holds. */
  #lastRead = 0;
  /** Of the whole connection. */
  bytesRead = 0;
  bytesWritten = 0;

  private constructor(parts: TransportParts, open: (owner: ByteStreamOwner) => ByteStream) {
    this.#loop = parts.loop;
    this.#handler = parts.handler;
    this.#counters = parts.counters;
    if (parts.watch === undefined) this.#stream = this.#carrier = open(this);
    else
      ({ stream: this.#stream, carrier: this.#carrier } = watchedStream(this, parts.watch, open));
  }

  /** Takes over a socket that node:net accepted or TLS made. */
  static adopt(parts: TransportParts, socket: net.Socket): Transport {
    return new Transport(parts, (owner) =>
      runtimeHandles !== undefined && isTls(socket)
        ? new TlsStream(socket, {
            handles: runtimeHandles,
            readBuffer: parts.loop.readBuffer,
            held: parts.loop.held,
            owner,
          })
        : new SocketStream(socket, owner),
    );
  }

  /** Stands on a stream that somebody else makes: it may call its owner when this has returned. */
  static over(parts: TransportParts, open: (owner: ByteStreamOwner) => ByteStream): Transport {
    return new Transport(parts, open);
  }

  /** Takes over an accepted handle, which was made by the runtime of `runtimeHandles`. */
  static accepted(
    parts: TransportParts,
    handle: StreamHandle,
    bufferLimitBytes: number,
  ): Transport {
    return new Transport(parts, (owner) => {
      const options = handleOptions(parts.loop, owner, bufferLimitBytes);
      return options === undefined
        ? new SocketStream(socketOfHandle(handle), owner)
        : HandleStream.accepted(handle, options);
    });
  }

  /** Connects; how it ends is told to the handler after this has returned. */
  static connect(
    parts: TransportParts,
    target: ConnectTo,
    { local, bufferLimitBytes }: ConnectOptions,
  ): Transport {
    return new Transport(parts, (owner) => {
      const options = handleOptions(parts.loop, owner, bufferLimitBytes);
      if (options !== undefined) return HandleStream.connect(target, local, options);
      const isPlain = local === undefined || 'path' in target;
      const socket = isPlain ? net.connect(target) : connectLocalSocket(local, target);
      socket.setNoDelay(true);
      return new SocketStream(socket, owner);
    });
  }

  get addresses(): StreamAddresses {
    return this.#stream;
  }

  /** Bytes that were written and that the kernel has not taken yet. */
  get pendingBytes(): number {
    return this.#stream.pendingBytes;
  }

  get closed(): boolean {
    return this.#isClosed;
  }

  /** True while what waits to be written is above the limit. */
  get blocked(): boolean {
    return this.#isBlocked;
  }

  writeText(text: string): void {
    if (this.#isClosed) return;
    if (this.#text.length + text.length > MAX_TEXT) this.flush();
    this.#text += text;
    this.#markDirty();
  }

  writeData(data: Buffer): void {
    if (this.#isClosed) return;
    if (data.length > MAX_GATHERED_TEXT_PIECE && this.#gather(data)) return;
    if (data.length <= MAX_TEXT_PIECE) {
      this.writeText(data.toString('latin1'));
      return;
    }
    const text = this.#text;
    this.#text = '';
    const length = text.length + data.length;
    const block = takeBlock(length);
    if (text.length > 0) block.write(text, 0, 'latin1');
    data.copy(block, text.length);
    const written = block.subarray(0, length);
    this.#wrote(
      this.#stream.writeBlock(written, () => giveBackBlock(block)),
      length,
    );
  }

  flush(): void {
    this.#isDirty = false;
    const text = this.#text;
    const gathered = this.#gathered;
    const length = text.length + (gathered?.length ?? 0);
    if (length === 0 || this.#isClosed) return;
    this.#text = '';
    this.#wrote(gathered?.writeTo(this.#stream, text) ?? this.#stream.writeText(text), length);
    this.#observer?.onWritten(this.#stream.pendingBytes > 0);
  }

  gatherTurns(observer?: WriteObserver): boolean {
    // A socket takes nothing once its peer has ended, which may be in the same turn.
    if (this.#carrier instanceof SocketStream) return false;
    this.#gathered ??= new OpenBlock();
    this.#observer = observer;
    return true;
  }

  afterRecords(task: Flushable): boolean {
    const isEncrypted = this.#carrier instanceof EncryptedStream;
    if (isEncrypted) this.#loop.turnEnd.add(task);
    return isEncrypted;
  }

  defer(task: Flushable): void {
    this.#loop.flushLater(task);
  }

  pauseReading(paused: boolean): void {
    this.#pauses += paused ? 1 : -1;
    if (this.#isClosed) return;
    if (paused && this.#pauses === 1) this.#stream.pause();
    else if (!paused && this.#pauses === 0) this.#stream.resume();
  }

  /** Each direction ends by itself from now on: `onRemoteEnd`, `endWriting`, and then the close. */
  keepHalfOpen(): void {
    this.#isHalfOpen = true;
    this.#stream.keepHalfOpen();
  }

  endWriting(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#stream.end();
  }

  /** Closes at once; what was not sent is lost. The handler is not told. */
  close(): void {
    if (this.#isClosed) return;
    this.#noteClosed();
    this.#writeLast();
    this.#stream.close();
  }

  /** Closes with a reset instead of an orderly end. */
  reset(): void {
    if (this.#isClosed) return;
    this.#noteClosed();
    this.#dropWrites();
    this.#stream.reset();
  }

  /**
   * Closes once everything is sent; true when that is so already. Otherwise the caller bounds the
   * wait with `close`. The handler hears no more data either way.
   */
  closeAfterWrites(): boolean {
    if (this.#isClosed) return true;
    this.flush();
    if (this.#stream.pendingBytes === 0) {
      this.close();
      return true;
    }
    this.#stream.closeAfterWrites();
    return false;
  }

  onStreamConnect(): void {
    if (!this.#isClosed) this.#tell(() => this.#handler.onConnect());
  }

  onStreamData(length: number, input: Buffer): void {
    if (this.#isClosed) return;
    this.#loop.enter();
    this.bytesRead += length;
    this.#counters?.stats.add(this.#counters.received, length);
    this.#countWaiting(length);
    try {
      this.#handler.onData(input, 0, length);
    } catch (error) {
      this.#loop.failed(error, this);
    }
    this.#loop.leave();
  }

  onStreamDrain(): void {
    const wasBlocked = this.#isBlocked;
    if (this.#isClosed || (!wasBlocked && this.#observer === undefined)) return;
    this.#isBlocked = false;
    this.#tell(() => {
      this.#observer?.onWritten(false);
      if (wasBlocked) this.#handler.onWriteBlocked(false);
    });
  }

  onStreamEnd(): void {
    if (!this.#isHalfOpen) return this.onStreamClose(undefined);
    if (this.#isClosed) return;
    this.#countWaiting(0);
    this.#tell(() => this.#handler.onRemoteEnd?.());
  }

  onStreamClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.#isClosed) return;
    this.#loop.enter();
    this.#noteClosed();
    if (error === undefined) this.#writeLast();
    this.#dropWrites();
    this.#stream.close();
    try {
      this.#handler.onRemoteClose(error);
    } catch (exception) {
      this.#loop.failed(exception, this);
    }
    this.#loop.leave();
  }

  onStreamException(error: unknown): void {
    this.#loop.run(undefined, () => this.#loop.failed(error, this));
  }

  /** Also of a transport that is closed: its handler may not have seen to everything. */
  onException(): void {
    if (this.#handler.onException !== undefined) return this.#handler.onException();
    if (this.#isClosed) return;
    this.reset();
    this.#handler.onRemoteClose(systemError(UV_ECONNABORTED, 'read'));
  }

  #countWaiting(length: number): void {
    if (length === this.#lastRead) return;
    this.#counters?.stats.add(this.#counters.waiting, length - this.#lastRead);
    this.#lastRead = length;
  }

  #tell(event: () => void): void {
    this.#loop.enter();
    try {
      event();
    } catch (error) {
      this.#loop.failed(error, this);
    }
    this.#loop.leave();
  }

  #noteClosed(): void {
    this.#isClosed = true;
    this.#countWaiting(0);
    this.#observer?.onWritesOver();
  }

  #countSent(length: number): void {
    this.bytesWritten += length;
    this.#counters?.stats.add(this.#counters.sent, length);
  }

  #wrote(hasRoom: boolean, length: number): void {
    this.#countSent(length);
    if (hasRoom || this.#isBlocked || this.#stream.pendingBytes === 0) return;
    this.#handler.onWriteBlocked((this.#isBlocked = true));
  }

  /** What earlier events of the turn wrote still leaves; what waits longer is lost. */
  #writeLast(): void {
    const text = this.#text;
    const gathered = this.#gathered;
    this.#text = '';
    const length = text.length + (gathered?.length ?? 0);
    if (gathered === undefined || length === 0) return;
    this.#countSent(length);
    gathered.writeTo(this.#stream, text);
  }

  #dropWrites(): void {
    this.#text = '';
    this.#gathered?.drop();
  }

  /** Adds the text and the data behind it to what the turn writes at once; false: neither. */
  #gather(data: Buffer): boolean {
    const gathered = this.#gathered;
    if (gathered === undefined) return false;
    if (!gathered.add(this.#text, data)) {
      if (gathered.length > 0) this.flush();
      if (!gathered.add(this.#text, data)) return false;
    }
    this.#text = '';
    this.#markDirty();
    return true;
  }

  #markDirty(): void {
    if (this.#isDirty) return;
    this.#isDirty = true;
    if (this.#gathered !== undefined) this.#loop.turnEnd.add(this);
    else this.#loop.flushLater(this);
  }
}
