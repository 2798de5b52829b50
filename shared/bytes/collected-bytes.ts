/**
 * Bytes that are kept until there are enough of them, in about as much memory as they are: a peer
 * may send each in a chunk or frame of its own, and a buffer of one byte takes a hundred.
 */

/** Pieces of this size and more are kept as they are, the others are copied into blocks. */
export const OWN_BYTES = 4096;
const FIRST_BLOCK_BYTES = 512;
const LAST_BLOCK_BYTES = 65_536;

export class CollectedBytes {
  readonly #blocks: Buffer[] = [];
  /** The last block while there is room in it, and how much of it is used. */
  #open: Buffer | undefined;
  #used = 0;
  #bytes = 0;

  get length(): number {
    return this.#bytes;
  }

  /** A piece of at least `OWN_BYTES` is kept as it is: nobody may change it any more. */
  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (piece.length >= OWN_BYTES) {
      this.#close();
      this.#blocks.push(piece);
      return;
    }
    for (let at = 0; at < piece.length;) {
      const block = (this.#open ??= this.#newBlock(piece.length - at));
      const copied = piece.copy(block, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === block.length) this.#close();
    }
  }

  /** A piece that is valid during the call only. */
  addCopy(piece: Buffer): void {
    this.add(piece.length >= OWN_BYTES ? Buffer.from(piece) : piece);
  }

  /** In order; each has at least one byte. */
  blocks(): readonly Buffer[] {
    this.#close();
    return this.#blocks;
  }

  /** The same, and nothing of it stays here. */
  take(): readonly Buffer[] {
    const blocks = [...this.blocks()];
    this.clear();
    return blocks;
  }

  /** All of it in one. */
  joined(): Buffer {
    const [only, ...more] = this.blocks();
    if (only === undefined) return Buffer.alloc(0);
    return more.length === 0 ? only : Buffer.concat(this.#blocks, this.#bytes);
  }

  clear(): void {
    this.#blocks.length = 0;
    this.#open = undefined;
    this.#used = 0;
    this.#bytes = 0;
  }

  /** Twice as large as what is there already: few pieces take little, many take few blocks. */
  #newBlock(wanted: number): Buffer {
    const size = Math.min(Math.max(FIRST_BLOCK_BYTES, wanted, this.#bytes), LAST_BLOCK_BYTES);
    return Buffer.allocUnsafe(size);
  }

  #close(): void {
    if (this.#open !== undefined) this.#blocks.push(this.#open.subarray(0, this.#used));
    this.#open = undefined;
    this.#used = 0;
  }
}
