/**
 * Windows of flow control (RFC 9113 section 5.2), of the connection and of streams: how much may be
 * sent, when the peer is told that it may send more, and the data that waits for a window.
 */
import { giveBackBlock, takeFittingBlock } from '../net/write-blocks.ts';
import { LARGEST_WINDOW } from './frames.ts';

/**
 * The size of the first piece at least, and of the later ones, unless what comes at once is larger.
 */
const FIRST_PIECE_BYTES = 512;
const PIECE_BYTES = 16 * 1024;

/** What this side may still send; negative after the peer made its initial window smaller. */
export class SendWindow {
  #left: number;

  constructor(left: number) {
    this.#left = left;
  }

  get left(): number {
    return this.#left;
  }

  take(bytes: number): void {
    this.#left -= bytes;
  }

  /** False where the window would grow beyond what a number can say. */
  add(bytes: number): boolean {
    this.#left += bytes;
    return this.#left <= LARGEST_WINDOW;
  }
}

/** What the peer may still send. Room is given back in large pieces, when half of it is used. */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #consumed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** False where the peer sends more than it may. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Bytes were dealt with; returns the increment that the peer is to be told of now, or 0. */
  consume(bytes: number): number {
    this.#consumed += bytes;
    if (this.#consumed * 2 < this.#size) return 0;
    const increment = this.#consumed;
    this.#consumed = 0;
    this.#left += increment;
    return increment;
  }
}

/**
 * DATA of one stream that waits for a window or for the wire: copied into few large pieces, so that
 * what waits takes about as much memory as it has bytes, however small the pieces were in which it
 * came. Large pieces are blocks that are used over and over.
 */
export class WaitingData {
  #bytes = 0;
  /** Absent until something waits: most streams never do. */
  #pieces: Buffer[] | undefined;
  /** Taken to its end, while the last view may still be read. */
  #spent: Buffer | undefined;
  /** In the first piece, and in the last. */
  #readAt = 0;
  #writeAt = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a copy. */
  push(data: Buffer): void {
    const pieces = (this.#pieces ??= []);
    this.#bytes += data.length;
    let at = 0;
    const last = pieces.at(-1);
    if (last !== undefined) {
      at = Math.min(last.length - this.#writeAt, data.length);
      data.copy(last, this.#writeAt, 0, at);
      this.#writeAt += at;
    }
    if (at === data.length) return;
    const left = data.length - at;
    const least = last === undefined ? FIRST_PIECE_BYTES : PIECE_BYTES;
    const piece = takeFittingBlock(Math.max(left, least));
    data.copy(piece, 0, at);
    pieces.push(piece);
    this.#writeAt = left;
  }

  /** At most that many bytes from the front, which wait no more; a view until the next call. */
  take(most: number): Buffer {
    this.#giveBackSpent();
    const pieces = this.#pieces ?? [];
    const [first = EMPTY] = pieces;
    const end = pieces.length === 1 ? this.#writeAt : first.length;
    const stop = Math.min(this.#readAt + most, end);
    const taken = first.subarray(this.#readAt, stop);
    this.#bytes -= taken.length;
    this.#readAt = stop;
    if (stop === end && taken.length > 0) this.#drop(pieces);
    return taken;
  }

  clear(): void {
    this.#giveBackSpent();
    for (const piece of this.#pieces ?? []) giveBackBlock(piece);
    this.#bytes = 0;
    this.#pieces = undefined;
    this.#readAt = 0;
  }

  #drop(pieces: Buffer[]): void {
    this.#readAt = 0;
    this.#spent = pieces.shift();
    if (pieces.length === 0) this.#pieces = undefined;
  }

  #giveBackSpent(): void {
    if (this.#spent !== undefined) giveBackBlock(this.#spent);
    this.#spent = undefined;
  }
}

const EMPTY = Buffer.alloc(0);
