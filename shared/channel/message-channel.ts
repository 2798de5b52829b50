/**
 * One end of the channel between the supervisor and a worker: typed messages over a unix stream
 * socket, with a limit on what may wait to be written. It knows neither what the messages mean nor
 * how the process at the other end came to be.
 */
import type { Socket } from 'node:net';
import { FrameDecoder, FrameEncoder } from './frame-codec.ts';

/** Bytes that may wait in one direction. A single message is taken whatever its size. */
export const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
/** Above this the sender of many messages should await `drained`. */
const QUEUE_BYTES_HIGH = 1024 * 1024;

/** Bytes read in one turn of the loop: decoding them takes about a millisecond. */
const TURN_BYTES_MAX = 64 * 1024;

type ChannelErrorCode = 'channel_closed' | 'channel_full';

class ChannelError extends Error {
  readonly code: ChannelErrorCode;

  constructor(code: ChannelErrorCode, message: string) {
    super(message);
    this.name = 'ChannelError';
    this.code = code;
  }
}

/** What every message has. */
export interface AnyMessage {
  readonly kind: string;
}

export interface ChannelHandlers<Incoming extends AnyMessage> {
  /** Called once per message, in order. */
  message(message: Incoming): void;
  /**
   * Called once, when the other end closed, the stream broke (`error`) or `close` was called.
   * Nothing is delivered afterwards.
   */
  closed(error: Error | undefined): void;
}

export class MessageChannel<Outgoing extends AnyMessage, Incoming extends AnyMessage> {
  readonly #socket: Socket;
  readonly #handlers: ChannelHandlers<Incoming>;
  readonly #encoder = new FrameEncoder();
  readonly #decoder = new FrameDecoder();
  #drainWaiters: (() => void)[] = [];
  #isClosed = false;
  #isEnding = false;
  /** Read since the present turn of the loop began. */
  #turnBytes = 0;

  constructor(socket: Socket, handlers: ChannelHandlers<Incoming>) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => this.#releaseDrainWaiters());
    socket.on('error', (error) => this.#finish(error));
    socket.on('close', () => this.#finish(undefined));
    socket.on('end', () => this.#finish(undefined));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Nothing can be sent any more, though what was sent may still be on its way. */
  get isEnding(): boolean {
    return this.#isClosed || this.#isEnding;
  }

  /** Bytes written here that the other end has not taken yet. */
  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  /** Whether a sender that can merge what it has to say should wait with the next message. */
  get isCongested(): boolean {
    return this.queuedBytes > QUEUE_BYTES_HIGH;
  }

  /**
   * Queues a message. Throws `ChannelError` when the channel is closed or its queue is full, and
   * `FrameError` for a message above the size limit; nothing was sent then.
   */
  post(message: Outgoing): void {
    if (this.#isClosed || this.#isEnding) {
      throw new ChannelError(
        'channel_closed',
        `cannot send ${message.kind}: the channel is closed`,
      );
    }
    if (this.queuedBytes > QUEUE_BYTES_MAX) {
      throw new ChannelError(
        'channel_full',
        `cannot send ${message.kind}: ${this.queuedBytes} bytes are waiting already`,
      );
    }
    const buffers = this.#encoder.encode(message);
    const [only] = buffers;
    if (only !== undefined && buffers.length === 1) return void this.#socket.write(only);
    this.#socket.cork();
    for (const buffer of buffers) this.#socket.write(buffer);
    this.#socket.uncork();
  }

  /** Resolves when the queue is short enough for more; also when the channel closes. */
  async drained(): Promise<void> {
    while (!this.#isClosed && this.isCongested) {
      await new Promise<void>((resolve) => this.#drainWaiters.push(resolve));
    }
  }

  /**
   * Ends the stream after what is queued; resolves when the kernel has it, or the channel broke.
   */
  async end(): Promise<void> {
    this.#isEnding = true;
    await new Promise<void>((resolve) => this.#socket.end(() => resolve()));
  }

  close(): void {
    this.#finish(undefined);
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return;
    this.#rest(chunk.length);
    for (const message of this.#decode(chunk)) {
      if (this.#isClosed) return;
      try {
        this.#handlers.message(message as Incoming);
      } catch (error) {
        // What one message causes keeps no other from being delivered; the process sees to it.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** Whatever else the loop has to do comes between two turns of reading. */
  #rest(bytes: number): void {
    const before = this.#turnBytes;
    this.#turnBytes += bytes;
    if (before === 0) {
      setImmediate(() => {
        this.#turnBytes = 0;
        if (this.#socket.isPaused()) this.#socket.resume();
      });
    }
    if (this.#turnBytes >= TURN_BYTES_MAX) this.#socket.pause();
  }

  #decode(chunk: Buffer): readonly AnyMessage[] {
    try {
      return this.#decoder.push(chunk).map(asMessage);
    } catch (error) {
      this.#finish(error instanceof Error ? error : new Error(String(error)));
      return [];
    }
  }

  #finish(error: Error | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.#releaseDrainWaiters();
    this.#handlers.closed(error);
  }

  #releaseDrainWaiters(): void {
    const waiters = this.#drainWaiters;
    this.#drainWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

function asMessage(value: unknown): AnyMessage {
  if (typeof value === 'object' && value !== null && 'kind' in value) {
    const { kind } = value;
    if (typeof kind === 'string') return value as AnyMessage;
  }
  throw new TypeError('a message has no kind');
}
