/**
 * Decodes the chunked coding, byte by byte where it must and in whole pieces where it can. Owns no
 * buffer: pieces of the body are handed on as views into the input, valid during the call only.
 * Small chunks that came together are moved together there: whoever takes the body meets one piece
 * for them all, as in Envoy, and not one for each byte.
 *
 * Strict: sizes are hexadecimal digits without sign or prefix, every line ends in CRLF, extensions
 * are skipped but hold no control bytes, and everything that is not body has a limit.
 */
import { type ParseError, parseErrors } from './parse-errors.ts';

const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const TAB = 0x09;
const SEMICOLON = 0x3b;

/** A chunk's size has at most so many digits: 2^52 bytes. */
const MAX_SIZE_DIGITS = 13;
/** Bytes of chunk extensions in one message; they are skipped, and no known client needs them. */
const MAX_EXTENSION_BYTES = 16 * 1024;

/** Chunks of this size and more are handed on where they are. */
const OWN_BYTES = 4096;

type State =
  | 'size'
  | 'size_blank'
  | 'extension'
  | 'size_lf'
  | 'data'
  | 'data_cr'
  | 'data_lf'
  | 'trailers'
  | 'done';

export interface ChunkedSink {
  /** A piece of the body; the view is valid during the call only. */
  onBody(piece: Buffer): void;
}

export class ChunkedDecoder {
  readonly #sink: ChunkedSink;
  #maxTrailerBytes = 0;
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  /** The trailer section as it came, without the final empty line's own bytes removed. */
  trailerText = '';
  error: ParseError | undefined = undefined;

  constructor(sink: ChunkedSink) {
    this.#sink = sink;
  }

  get isDone(): boolean {
    return this.#state === 'done';
  }

  /** Prepares for the next message. */
  reset(maxTrailerBytes: number): void {
    this.#maxTrailerBytes = maxTrailerBytes;
    this.#state = 'size';
    this.#size = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
    this.trailerText = '';
    this.error = undefined;
  }

  /**
   * Consumes input from `start` and returns how far it got: `end`, or less when the message ended
   * (`isDone`) or is refused (`error`).
   */
  decode(input: Buffer, start: number, end: number): number {
    let at = start;
    // What of the body is not handed on yet.
    let from = start;
    let to = start;
    while (at < end && this.#state !== 'done' && this.error === undefined) {
      if (this.#state === 'data') {
        const length = Math.min(this.#size, end - at);
        this.#size -= length;
        if (this.#size === 0) this.#state = 'data_cr';
        if (from < to && length >= OWN_BYTES) {
          this.#sink.onBody(input.subarray(from, to));
          from = to;
        }
        if (from === to) from = at;
        else input.copyWithin(to, at, at + length);
        to = from === at ? at + length : to + length;
        at += length;
      } else if (this.#state === 'trailers') {
        at = this.#trailers(input, at, end);
      } else {
        this.#framing(input[at] ?? 0);
        at++;
      }
    }
    if (from < to) this.#sink.onBody(input.subarray(from, to));
    return at;
  }

  #framing(byte: number): void {
    switch (this.#state) {
      case 'size':
        return this.#sizeByte(byte);
      case 'size_blank':
        return this.#afterSize(byte, byte === SP || byte === TAB);
      case 'extension':
        return this.#inExtension(byte);
      case 'size_lf':
        return this.#expect(byte, LF, this.#size === 0 ? 'trailers' : 'data');
      case 'data_cr':
        return this.#expect(byte, CR, 'data_lf');
      case 'data_lf':
        this.#digits = 0;
        return this.#expect(byte, LF, 'size');
      case 'data':
      case 'trailers':
      case 'done':
        return;
    }
  }

  #expect(byte: number, wanted: number, next: State): void {
    if (byte === wanted) this.#state = next;
    else this.#fail();
  }

  #afterSize(byte: number, isBlank: boolean): void {
    if (byte === CR) this.#state = 'size_lf';
    else if (byte === SEMICOLON) this.#state = 'extension';
    else if (!isBlank) this.#fail();
    else {
      this.#state = 'size_blank';
      this.#countExtension();
    }
  }

  #inExtension(byte: number): void {
    if (byte === CR) this.#state = 'size_lf';
    else if ((byte < SP && byte !== TAB) || byte === 0x7f) this.#fail();
    else this.#countExtension();
  }

  #sizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > MAX_SIZE_DIGITS) return this.#fail();
      this.#size = this.#size * 16 + digit;
      return;
    }
    if (this.#digits === 0) this.#fail();
    else this.#afterSize(byte, byte === SP || byte === TAB);
  }

  #countExtension(): void {
    if (++this.#extensionBytes > MAX_EXTENSION_BYTES) this.#fail();
  }

  #trailers(input: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end) {
      const lineFeed = input.indexOf(LF, at);
      const lineEnd = lineFeed < 0 || lineFeed >= end ? end : lineFeed + 1;
      this.trailerText += input.toString('latin1', at, lineEnd);
      at = lineEnd;
      if (this.trailerText.length > this.#maxTrailerBytes) {
        this.error = parseErrors.trailersTooLarge;
        return at;
      }
      if (this.trailerText === '\r\n' || this.trailerText.endsWith('\n\r\n')) {
        this.#state = 'done';
        return at;
      }
      if (this.trailerText === '\n' || this.trailerText.endsWith('\n\n')) {
        this.#fail();
        return at;
      }
    }
    return at;
  }

  #fail(): void {
    this.error = parseErrors.codec;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
