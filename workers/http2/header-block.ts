/**
 * A header block on its way in, from its HEADERS frame to the last CONTINUATION; bounded in bytes.
 */
export class HeaderBlock {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** The whole block where it came in one frame: a view, valid until `take`. */
  #view: { readonly bytes: Buffer; readonly start: number; readonly end: number } | undefined;
  isOpen = false;
  stream = 0;
  endStream = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  begin(stream: number, endStream: boolean): void {
    this.isOpen = true;
    this.stream = stream;
    this.endStream = endStream;
    this.#pieces = [];
    this.#length = 0;
    this.#view = undefined;
  }

  /** False where the block becomes too large. */
  add(input: Buffer, start: number, end: number, isLast: boolean): boolean {
    this.#length += end - start;
    if (this.#length > this.#maxBytes) return false;
    if (isLast && this.#pieces.length === 0) this.#view = { bytes: input, start, end };
    else this.#pieces.push(Buffer.from(input.subarray(start, end)));
    return true;
  }

  /** The whole block; the next one may begin. */
  take(): { readonly bytes: Buffer; readonly start: number; readonly end: number } {
    this.isOpen = false;
    const view = this.#view;
    this.#view = undefined;
    if (view !== undefined) return view;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return { bytes, start: 0, end: bytes.length };
  }
}
