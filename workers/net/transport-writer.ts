/**
 * The side of a transport that writes: text is gathered and leaves at the end of the loop's turn,
 * longer pieces are copied into pooled blocks, and the handler hears when more waits than the limit
 * allows.
 *
 * Text is latin-1, because the runtime copies a short string to the stack and tries to send it at
 * once: no buffer, no request object.
 */
import type { Flushable, WorkerLoop } from '../loop/worker-loop.ts';
import { ByteAccount } from './byte-account.ts';
import type { ByteStream, TransportHandler, TransportParts } from './byte-stream.ts';
import { SocketStream } from './socket-stream.ts';
import type { WriteObserver } from './wire.ts';
import { giveBackBlock, OpenBlock, takeBlock } from './write-blocks.ts';

/** Pieces up to these lengths travel as text, the second where writes are gathered. */
const MAX_TEXT_PIECE = 8 * 1024;
const MAX_GATHERED_TEXT_PIECE = 1024;
/** The runtime encodes strings up to 16 KiB on the stack. */
const MAX_TEXT = 16 * 1024 - 64;

export abstract class TransportWriter extends ByteAccount implements Flushable {
  protected readonly loop: WorkerLoop;
  protected readonly handler: TransportHandler;
  protected abstract readonly stream: ByteStream;
  /** What carries the bytes, below what watches them. */
  protected abstract readonly carrier: ByteStream;
  protected observer: WriteObserver | undefined = undefined;
  protected isBlocked = false;
  protected isClosed = false;
  #text = '';
  /** The event that wrote last, and how much text was there before it. */
  #event = 0;
  #textBefore = 0;
  #isDirty = false;
  /** The open block of a transport that writes once in a turn. */
  #gathered: OpenBlock | undefined = undefined;

  protected constructor({ loop, handler, counters }: TransportParts) {
    super(counters);
    this.loop = loop;
    this.handler = handler;
  }

  /** Bytes that were written and that the kernel has not taken yet. */
  get pendingBytes(): number {
    return this.stream.pendingBytes;
  }

  /** True while what waits to be written is above the limit. */
  get blocked(): boolean {
    return this.isBlocked;
  }

  writeText(text: string): void {
    if (this.isClosed) return;
    if (this.#text.length + text.length > MAX_TEXT) this.flush();
    this.#noteEvent();
    this.#text += text;
    this.#markDirty();
  }

  writeData(data: Buffer): void {
    if (this.isClosed) return;
    if (data.length > MAX_GATHERED_TEXT_PIECE && this.#gather(data)) return;
    if (data.length <= MAX_TEXT_PIECE) {
      this.writeText(data.toString('latin1'));
      return;
    }
    const text = this.#text;
    this.#text = '';
    this.#textBefore = 0;
    const length = text.length + data.length;
    const block = takeBlock(length);
    if (text.length > 0) block.write(text, 0, 'latin1');
    data.copy(block, text.length);
    const written = block.subarray(0, length);
    this.#wrote(
      this.stream.writeBlock(written, () => giveBackBlock(block)),
      length,
    );
  }

  flush(): void {
    this.#isDirty = false;
    const text = this.#text;
    const gathered = this.#gathered;
    const length = text.length + (gathered?.length ?? 0);
    if (length === 0 || this.isClosed) return;
    this.#text = '';
    this.#textBefore = 0;
    this.#wrote(gathered?.writeTo(this.stream, text) ?? this.stream.writeText(text), length);
    this.observer?.onWritten(this.stream.pendingBytes > 0);
  }

  gatherTurns(observer?: WriteObserver): boolean {
    if (this.#writesPerEvent) return false;
    this.#gathered ??= new OpenBlock();
    this.observer = observer;
    return true;
  }

  #wrote(hasRoom: boolean, length: number): void {
    this.countSent(length);
    if (hasRoom || this.isBlocked || this.stream.pendingBytes === 0) return;
    this.handler.onWriteBlocked((this.isBlocked = true));
  }

  /** A socket takes nothing once its peer has ended, which may be in the same turn. */
  get #writesPerEvent(): boolean {
    return this.carrier instanceof SocketStream;
  }

  #noteEvent(): void {
    const { events } = this.loop;
    if (this.#event === events) return;
    this.#event = events;
    this.#textBefore = this.#text.length;
  }

  /**
   * What earlier events of the turn wrote still leaves. What the present one wrote is lost with the
   * connection that it closes: a request that it refused must not reach a host.
   */
  protected writeLast(): void {
    this.#noteEvent();
    const gathered = this.#gathered;
    const text = gathered === undefined ? this.#text.slice(0, this.#textBefore) : this.#text;
    this.#text = '';
    const length = text.length + (gathered?.length ?? 0);
    if (length === 0 || this.#writesPerEvent) return;
    this.countSent(length);
    if (gathered === undefined) this.stream.writeText(text);
    else gathered.writeTo(this.stream, text);
  }

  protected dropWrites(): void {
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
    if (this.#writesPerEvent) this.loop.flushLater(this);
    else this.loop.turnEnd.add(this);
  }
}
