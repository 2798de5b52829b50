/**
 * One byte stream over a socket, TCP, unix or TLS: reads without allocating, writes gathered per event,
 * back-pressure in both directions. Knows no protocol; its handler does.
 *
 * Reads of plain sockets land in the loop's shared buffer (`onread` of node:net), so what `onData`
 * gets is valid during the call only. Writes are gathered as latin-1 text, because node:net copies a
 * short string to the stack and tries to send it at once: no buffer, no request object that lives on.
 * Longer pieces are copied into a block of a small pool and given back when they are written.
 */
import net from 'node:net';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Flushable, WorkerLoop } from '../worker-loop.ts';
import { takeBlock, giveBackBlock } from './write-blocks.ts';

/** Pieces up to this length travel as text. */
const MAX_TEXT_PIECE = 8 * 1024;
/** node:net encodes strings up to 16 KiB on the stack. */
const MAX_TEXT = 16 * 1024 - 64;
/** Taken for a configured limit of 0, which the API reads as "no limit": every queue has one here. */
const LARGEST_BUFFER_LIMIT = 16 * 1024 * 1024;

/** What a codec needs of its transport. */
export interface Wire {
  /** Adds latin-1 text to what is written when the present event ends. */
  writeText(text: string): void;
  /** Adds bytes; they are copied before the call returns. */
  writeData(data: Buffer): void;
  /** Counted: reading goes on when every `true` has had its `false`. */
  pauseReading(paused: boolean): void;
  /** Calls `task.flush` when the present event ends. */
  defer(task: Flushable): void;
}

export interface TransportHandler {
  onConnect(): void;
  /** The peer sends nothing more; only of transports that were told to `keepHalfOpen`. */
  onRemoteEnd?(): void;
  /** `input` from `start` to `end`; valid during the call only. */
  onData(input: Buffer, start: number, end: number): void;
  /** The peer closed, or the connection broke (`error`). Nothing follows. */
  onRemoteClose(error: NodeJS.ErrnoException | undefined): void;
  onWriteBlocked(blocked: boolean): void;
}

/** Where a transport counts its bytes. */
export interface ByteCounters {
  readonly stats: StatWriter;
  readonly received: number;
  /** The gauge of received bytes that wait: what each open connection read last. */
  readonly waiting: number;
  readonly sent: number;
}

export class Transport implements Flushable, Wire {
  readonly socket: net.Socket;
  private readonly loop: WorkerLoop;
  private readonly handler: TransportHandler;
  private readonly counters: ByteCounters | undefined;
  private text = '';
  private isDirty = false;
  private isBlocked = false;
  private isClosed = false;
  private isHalfOpen = false;
  private pauses = 0;
  /** Bytes of the last read, which `counters.waiting` holds. */
  private lastRead = 0;
  private readonly blocks: Buffer[] = [];
  private readonly onBlockWritten: () => void;

  private constructor(
    loop: WorkerLoop,
    makeSocket: (transport: Transport) => net.Socket,
    handler: TransportHandler,
    counters: ByteCounters | undefined,
  ) {
    this.loop = loop;
    this.handler = handler;
    this.counters = counters;
    this.onBlockWritten = () => {
      const block = this.blocks.shift();
      if (block !== undefined) giveBackBlock(block);
    };
    this.socket = makeSocket(this);
    this.watch();
  }

  /** Takes over a socket that node:net accepted or TLS made; its data arrive as events. */
  static adopt(
    loop: WorkerLoop,
    socket: net.Socket,
    handler: TransportHandler,
    counters: ByteCounters | undefined,
  ): Transport {
    return new Transport(
      loop,
      (transport) => socket.on('data', (piece: Buffer) => transport.onRead(piece.length, piece)),
      handler,
      counters,
    );
  }

  /** Makes a socket from options; `onread` and the write limit are set here. */
  static open(
    loop: WorkerLoop,
    options: TransportOptions,
    handler: TransportHandler,
    counters: ByteCounters | undefined,
  ): Transport {
    const make = (transport: Transport): net.Socket => {
      const socketOptions = {
        ...options.socket,
        writableHighWaterMark: bufferLimit(options.bufferLimitBytes),
        onread: {
          buffer: loop.readBuffer,
          callback: (length: number, buffer: Uint8Array): boolean => {
            transport.onRead(length, buffer as Buffer);
            return true;
          },
        },
      };
      return new net.Socket(socketOptions);
    };
    return new Transport(loop, make, handler, counters);
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** True while what waits to be written is above the limit. */
  get blocked(): boolean {
    return this.isBlocked;
  }

  writeText(text: string): void {
    if (this.isClosed) return;
    if (this.text.length + text.length > MAX_TEXT) this.flush();
    this.text += text;
    this.markDirty();
  }

  writeData(data: Buffer): void {
    if (this.isClosed) return;
    if (data.length <= MAX_TEXT_PIECE) {
      this.writeText(data.toString('latin1'));
      return;
    }
    const { text } = this;
    this.text = '';
    const length = text.length + data.length;
    const block = takeBlock(length);
    if (text.length > 0) block.write(text, 0, 'latin1');
    data.copy(block, text.length);
    this.blocks.push(block);
    this.wrote(this.socket.write(block.subarray(0, length), this.onBlockWritten), length);
  }

  flush(): void {
    this.isDirty = false;
    const { text } = this;
    if (text.length === 0 || this.isClosed) return;
    this.text = '';
    this.wrote(this.socket.write(text, 'latin1'), text.length);
  }

  defer(task: Flushable): void {
    this.loop.flushLater(task);
  }

  pauseReading(paused: boolean): void {
    this.pauses += paused ? 1 : -1;
    if (this.isClosed) return;
    if (paused && this.pauses === 1) this.socket.pause();
    else if (!paused && this.pauses === 0) this.socket.resume();
  }

  /** Each direction ends by itself from now on: `onRemoteEnd`, `endWriting`, and then the close. */
  keepHalfOpen(): void {
    this.isHalfOpen = true;
    this.socket.allowHalfOpen = true;
  }

  /** Sends what was written and then the end of this direction. */
  endWriting(): void {
    if (this.isClosed) return;
    this.flush();
    this.socket.end();
  }

  /** Closes at once; what was not sent is lost. The handler is not told. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.countWaiting(0);
    this.text = '';
    this.socket.destroy();
  }

  /** Closes with a reset instead of an orderly end. */
  reset(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.countWaiting(0);
    this.text = '';
    // What TLS wrapped has no reset of its own.
    if ('encrypted' in this.socket) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  /**
   * Closes once everything is sent; true when that is so already. Otherwise the caller bounds the
   * wait with `close`. The handler hears no more data either way.
   */
  closeAfterWrites(): boolean {
    if (this.isClosed) return true;
    this.flush();
    if (this.socket.writableLength === 0) {
      this.close();
      return true;
    }
    this.socket.destroySoon();
    return false;
  }

  private watch(): void {
    const { socket } = this;
    // TLS can be written to after its handshake.
    const readyEvent = 'encrypted' in socket ? 'secureConnect' : 'connect';
    socket.on(readyEvent, () => {
      // A peer that was refused in the same event is gone.
      if (this.isClosed || socket.destroyed) return;
      this.loop.enter();
      this.handler.onConnect();
      this.loop.leave();
    });
    socket.on('drain', () => {
      if (this.isClosed || !this.isBlocked) return;
      this.loop.enter();
      this.isBlocked = false;
      this.handler.onWriteBlocked(false);
      this.loop.leave();
    });
    socket.on('end', () => {
      if (this.isHalfOpen) this.onHalfEnd();
      else this.onEnd(undefined);
    });
    socket.on('error', (error) => this.onEnd(error));
    socket.on('close', () => this.onEnd(undefined));
  }

  private onRead(length: number, input: Buffer): void {
    if (this.isClosed) return;
    this.loop.enter();
    this.counters?.stats.add(this.counters.received, length);
    this.countWaiting(length);
    this.handler.onData(input, 0, length);
    this.loop.leave();
  }

  private countWaiting(length: number): void {
    if (length === this.lastRead) return;
    this.counters?.stats.add(this.counters.waiting, length - this.lastRead);
    this.lastRead = length;
  }

  private onHalfEnd(): void {
    if (this.isClosed) return;
    this.loop.enter();
    this.countWaiting(0);
    this.handler.onRemoteEnd?.();
    this.loop.leave();
  }

  private onEnd(error: NodeJS.ErrnoException | undefined): void {
    if (this.isClosed) return;
    this.loop.enter();
    this.isClosed = true;
    this.countWaiting(0);
    this.text = '';
    this.socket.destroy();
    this.handler.onRemoteClose(error);
    this.loop.leave();
  }

  private wrote(hasRoom: boolean, length: number): void {
    this.counters?.stats.add(this.counters.sent, length);
    if (hasRoom || this.isBlocked) return;
    this.isBlocked = true;
    this.handler.onWriteBlocked(true);
  }

  private markDirty(): void {
    if (this.isDirty) return;
    this.isDirty = true;
    this.loop.flushLater(this);
  }
}

export interface TransportOptions {
  readonly socket: net.SocketConstructorOpts & { readonly handle?: unknown };
  readonly bufferLimitBytes: number;
}

/** The limit that a configured one stands for. */
export function bufferLimit(configured: number): number {
  return configured === 0 ? LARGEST_BUFFER_LIMIT : configured;
}
