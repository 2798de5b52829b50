/**
 * A header block on its way in, from its HEADERS frame to the last CONTINUATION; bounded in bytes.
 */
/** A block of so many bytes is taken for a header that is too large, and ends its stream alone. */
const LEAST_BLOCK_BYTES = 256 * 1024;
/** The longest code of a character has 30 bits. */
const MOST_CODED_BYTES = 4;

/** What a block on the wire may have where its fields may have so many bytes. */
export function mostBlockBytes(maxHeaderBytes: number): number {
  return Math.max(LEAST_BLOCK_BYTES, maxHeaderBytes * MOST_CODED_BYTES);
}

export class HeaderBlock {
  readonly #maxBytes: number;
  /** What came in frames before the last one, copied; grows to the block's size and is let go. */
  #kept: Buffer = EMPTY;
  #length = 0;
  /** The whole block where it came in one frame: a view, valid until `take`. */
  #view: { readonly bytes: Buffer; readonly start: number; readonly end: number } | undefined;
  isOpen = false;
  stream = 0;
  endStream = false;
  /** On the wire, frame headers included. */
  wireBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  begin(stream: number, endStream: boolean): void {
    this.isOpen = true;
    this.stream = stream;
    this.endStream = endStream;
    this.wireBytes = 0;
    this.#length = 0;
    this.#view = undefined;
  }

  /** False where the block becomes too large. */
  add(input: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (isLast && this.#length === 0) {
      if (end - start > this.#maxBytes) return false;
      this.#view = { bytes: input, start, end };
      return true;
    }
    const length = this.#length + end - start;
    if (length > this.#maxBytes) return false;
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#kept.length * 2));
      this.#kept.copy(larger, 0, 0, this.#length);
      this.#kept = larger;
    }
    input.copy(this.#kept, this.#length, start, end);
    this.#length = length;
    return true;
  }

  /** The whole block; the next one may begin. */
  take(): { readonly bytes: Buffer; readonly start: number; readonly end: number } {
    this.isOpen = false;
    const view = this.#view;
    this.#view = undefined;
    if (view !== undefined) return view;
    const bytes = this.#kept;
    this.#kept = EMPTY;
    return { bytes, start: 0, end: this.#length };
  }
}

const EMPTY = Buffer.alloc(0);
