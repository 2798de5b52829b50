/**
 * Lines that wait to be written, packed into chunks of whole lines. A chunk is what one write
 * takes. Owns the bytes, nothing else: no limits, no descriptors.
 */

export interface Chunk {
  readonly bytes: Buffer;
  /** How many of the bytes are taken. */
  length: number;
  /** How many of them are written already. */
  written: number;
}

export class LineBuffer {
  readonly #chunkSize: number;
  readonly #full: Chunk[] = [];
  #open: Chunk;
  #isSealed = false;
  #spare: Buffer | undefined = undefined;

  /** A longer line gets a chunk of its own. */
  constructor(chunkSize: number) {
    this.#chunkSize = chunkSize;
    this.#open = { bytes: Buffer.allocUnsafeSlow(chunkSize), length: 0, written: 0 };
  }

  /** Adds a line of one character per byte. */
  add(line: string): void {
    if (this.#open.length + line.length > this.#open.bytes.length) this.#closeChunk(line.length);
    const chunk = this.#open;
    chunk.bytes.write(line, chunk.length, 'latin1');
    chunk.length += line.length;
  }

  /** Lets everything added so far be taken, with what is added until then. */
  seal(): void {
    this.#isSealed = true;
  }

  /** The oldest chunk that is full or sealed. */
  take(): Chunk | undefined {
    const full = this.#full.shift();
    if (full !== undefined || !this.#isSealed) return full;
    this.#isSealed = false;
    if (this.#open.length === 0) return undefined;
    this.#closeChunk(0);
    return this.#full.shift();
  }

  /** Puts a chunk back that could not be written, before all others. */
  putBack(chunk: Chunk): void {
    this.#full.unshift(chunk);
  }

  /** Keeps the memory of a written chunk for the next one. */
  recycle(chunk: Chunk): void {
    if (chunk.bytes.length === this.#chunkSize) this.#spare = chunk.bytes;
  }

  #closeChunk(nextLength: number): void {
    if (this.#open.length > 0) this.#full.push(this.#open);
    const spare = nextLength <= this.#chunkSize ? this.#spare : undefined;
    if (spare !== undefined) this.#spare = undefined;
    const bytes = spare ?? Buffer.allocUnsafeSlow(Math.max(this.#chunkSize, nextLength));
    this.#open = { bytes, length: 0, written: 0 };
  }
}
