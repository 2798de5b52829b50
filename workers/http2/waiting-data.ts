/**
 * DATA of one stream that waits for a window or for the wire: copied into few large pieces, so that
 * what waits takes about as much memory as it has bytes, however small the pieces were in which it
 * came.
 */

/** Of the first piece at least, and of the later ones, unless what comes at once is larger. */
const FIRST_PIECE_BYTES = 512;
const PIECE_BYTES = 16 * 1024;

export class WaitingData {
  #bytes = 0;
  /** Absent until something waits: most streams never do. */
  #pieces: Buffer[] | undefined;
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
    const piece = Buffer.allocUnsafeSlow(Math.max(left, least));
    data.copy(piece, 0, at);
    pieces.push(piece);
    this.#writeAt = left;
  }

  /** At most that many bytes from the front, which wait no more; the view stays as it is. */
  take(most: number): Buffer {
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
    this.#bytes = 0;
    this.#pieces = undefined;
    this.#readAt = 0;
  }

  #drop(pieces: Buffer[]): void {
    this.#readAt = 0;
    if (pieces.length === 1) this.#pieces = undefined;
    else pieces.shift();
  }
}

const EMPTY = Buffer.alloc(0);
