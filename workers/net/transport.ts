/**
 * One byte stream, TCP, unix or TLS: reads without allocating, writes gathered per event,
 * back-pressure in both directions. Knows no protocol; its handler does. Reads of plain streams land
 * in the loop's shared buffer, valid during `onData` only; transport-writer.ts has the writes.
 */
import { systemError, UV_ECONNABORTED } from './connection-errors.ts';
import type net from 'node:net';
import type { Flushable } from '../loop/worker-loop.ts';
import type {
  ByteStream,
  ByteStreamOwner,
  ConnectOptions,
  StreamAddresses,
  TransportParts,
} from './byte-stream.ts';
import { EncryptedStream } from './tls/encrypted-stream.ts';
import type { ConnectTo } from './handle-stream.ts';
import { acceptedStream, adoptedStream, connectedStream } from './open-stream.ts';
import type { StreamHandle } from './runtime-handles.ts';
import { watchedStream } from './transport-watcher.ts';
import { TransportWriter } from './transport-writer.ts';
import type { Wire } from './wire.ts';

export class Transport extends TransportWriter implements Flushable, Wire, ByteStreamOwner {
  protected readonly stream: ByteStream;
  protected readonly carrier: ByteStream;
  #isHalfOpen = false;
  #pauses = 0;

  private constructor(parts: TransportParts, open: (owner: ByteStreamOwner) => ByteStream) {
    super(parts);
    if (parts.watch === undefined) this.stream = this.carrier = open(this);
    else ({ stream: this.stream, carrier: this.carrier } = watchedStream(this, parts.watch, open));
  }

  /** Takes over a socket that node:net accepted or TLS made. */
  static adopt(parts: TransportParts, socket: net.Socket): Transport {
    return new Transport(parts, (owner) => adoptedStream(parts.loop, owner, socket));
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
    return new Transport(parts, (owner) =>
      acceptedStream(parts.loop, owner, handle, bufferLimitBytes),
    );
  }

  /** Connects; how it ends is told to the handler after this has returned. */
  static connect(parts: TransportParts, target: ConnectTo, options: ConnectOptions): Transport {
    return new Transport(parts, (owner) => connectedStream(parts.loop, owner, target, options));
  }

  get addresses(): StreamAddresses {
    return this.stream;
  }

  get closed(): boolean {
    return this.isClosed;
  }

  afterRecords(task: Flushable): boolean {
    const isEncrypted = this.carrier instanceof EncryptedStream;
    if (isEncrypted) this.loop.turnEnd.add(task);
    return isEncrypted;
  }

  defer(task: Flushable): void {
    this.loop.flushLater(task);
  }

  readLater(takeStep: () => boolean): void {
    this.pauseReading(true);
    this.loop.slices.add(() => this.#isReadOver(takeStep));
  }

  #isReadOver(takeStep: () => boolean): boolean {
    if (this.isClosed) return true;
    this.loop.current = undefined;
    let isOver = true;
    try {
      isOver = takeStep();
    } catch (error) {
      this.loop.failed(error, this);
    }
    if (isOver) this.pauseReading(false);
    return isOver;
  }

  pauseReading(paused: boolean): void {
    this.#pauses += paused ? 1 : -1;
    if (this.isClosed) return;
    if (paused && this.#pauses === 1) this.stream.pause();
    else if (!paused && this.#pauses === 0) this.stream.resume();
  }

  /** Each direction ends by itself from now on: `onRemoteEnd`, `endWriting`, and then the close. */
  keepHalfOpen(): void {
    this.#isHalfOpen = true;
    this.stream.keepHalfOpen();
  }

  endWriting(): void {
    if (this.isClosed) return;
    this.flush();
    this.stream.end();
  }

  /** Closes at once; what was not sent is lost. The handler is not told. */
  close(): void {
    if (this.isClosed) return;
    this.#noteClosed();
    this.writeLast();
    this.stream.close();
  }

  /** Closes with a reset instead of an orderly end. */
  reset(): void {
    if (this.isClosed) return;
    this.#noteClosed();
    this.dropWrites();
    this.stream.reset();
  }

  /**
   * Closes once everything is sent; true when that is so already. Otherwise the caller bounds the
   * wait with `close`. The handler hears no more data either way.
   */
  closeAfterWrites(): boolean {
    if (this.isClosed) return true;
    this.flush();
    if (this.stream.pendingBytes === 0) {
      this.close();
      return true;
    }
    this.stream.closeAfterWrites();
    return false;
  }

  onStreamConnect(): void {
    if (!this.isClosed) this.#tell(() => this.handler.onConnect());
  }

  onStreamData(length: number, input: Buffer): void {
    if (this.isClosed) return;
    this.loop.enter();
    this.countReceived(length);
    try {
      this.handler.onData(input, 0, length);
    } catch (error) {
      this.loop.failed(error, this);
    }
    this.loop.leave();
  }

  onStreamDrain(): void {
    const wasBlocked = this.isBlocked;
    if (this.isClosed || (!wasBlocked && this.observer === undefined)) return;
    this.isBlocked = false;
    this.#tell(() => {
      this.observer?.onWritten(false);
      if (wasBlocked) this.handler.onWriteBlocked(false);
    });
  }

  onStreamEnd(): void {
    if (!this.#isHalfOpen) return this.onStreamClose(undefined);
    if (this.isClosed) return;
    this.countWaiting(0);
    this.#tell(() => this.handler.onRemoteEnd?.());
  }

  onStreamClose(error: NodeJS.ErrnoException | undefined): void {
    if (this.isClosed) return;
    this.loop.enter();
    this.#noteClosed();
    if (error === undefined) this.writeLast();
    this.dropWrites();
    this.stream.close();
    try {
      this.handler.onRemoteClose(error);
    } catch (exception) {
      this.loop.failed(exception, this);
    }
    this.loop.leave();
  }

  onStreamException(error: unknown): void {
    this.loop.run(undefined, () => this.loop.failed(error, this));
  }

  /** Also of a transport that is closed: its handler may not have seen to everything. */
  onException(): void {
    if (this.handler.onException !== undefined) return this.handler.onException();
    if (this.isClosed) return;
    this.reset();
    this.handler.onRemoteClose(systemError(UV_ECONNABORTED, 'read'));
  }

  #tell(event: () => void): void {
    this.loop.enter();
    try {
      event();
    } catch (error) {
      this.loop.failed(error, this);
    }
    this.loop.leave();
  }

  #noteClosed(): void {
    this.isClosed = true;
    this.countWaiting(0);
    this.observer?.onWritesOver();
  }
}
