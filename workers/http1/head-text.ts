/**
 * Gathers the bytes of a message's head until it is complete. In nearly every case one read holds
 * the whole head and nothing is stored; a head that drips in is kept as text up to the limit.
 */
/** Most heads are shorter than this, so that a body in the same read is not turned into text. */
const FIRST_LOOK = 2048;

export class HeadText {
  readonly #maxBytes: number;
  #text = '';
  #firstLine: string | undefined = undefined;
  /** The last characters of `#text`: where an end that spans two reads begins. */
  #tail = '';
  /** Bytes of the input's share that were taken from earlier reads. */
  #stored = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#stored === 0;
  }

  /** Characters of the returned text that came from earlier reads. */
  get stored(): number {
    return this.#stored;
  }

  /**
   * Text that begins with the head and holds its end, or undefined while the head is incomplete;
   * then all input has been stored. `isTooLarge` says when it will never be.
   */
  read(input: Buffer, start: number, end: number): string | undefined {
    if (this.#stored === 0) {
      const first = input.toString('latin1', start, Math.min(end, start + FIRST_LOOK));
      if (first.indexOf('\n\r\n') >= 0 || holdsHeadEnd(first)) return first;
      if (end - start <= FIRST_LOOK) return this.#store(first);
    }
    const piece = input.toString('latin1', start, Math.min(end, start + this.#maxBytes));
    if (holdsHeadEnd(this.#tail + piece)) return this.#text + piece;
    return this.#store(piece);
  }

  /** The first line of a head of which the rest is missing, once that line is there. */
  get firstLine(): string | undefined {
    return this.#firstLine;
  }

  get isTooLarge(): boolean {
    return this.#stored >= this.#maxBytes;
  }

  clear(): void {
    this.#firstLine = undefined;
    this.#text = '';
    this.#tail = '';
    this.#stored = 0;
  }

  #store(piece: string): undefined {
    const lineEnd = this.#firstLine === undefined ? piece.indexOf('\n') : -1;
    if (lineEnd >= 0) {
      const line = this.#text + piece.slice(0, lineEnd);
      this.#firstLine = line.endsWith('\r') ? line.slice(0, -1) : line;
    }
    this.#text += piece;
    this.#tail = (this.#tail + piece).slice(-3);
    this.#stored += piece.length;
    return undefined;
  }
}

/** True when `text` holds the empty line that ends a head. */
function holdsHeadEnd(text: string): boolean {
  return text.indexOf('\n\r\n') >= 0 || text.indexOf('\n\n') >= 0;
}
