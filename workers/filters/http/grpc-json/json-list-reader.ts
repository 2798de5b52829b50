/** Cuts a body that is a list of JSON into its elements as they come. */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import { TranscodeError } from './json-text.ts';

const QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST_BEGIN = 0x5b;
const LIST_END = 0x5d;
const OBJECT_BEGIN = 0x7b;
const OBJECT_END = 0x7d;

const NO_LIST = 'Expected an array instead of an object';
/** What is shown on either side of a mistake. */
const CONTEXT = 20;

export class JsonListReader {
  #depth = 0;
  /** The quote that ends the present string, 0 outside of strings. */
  #quote = 0;
  #isEscaped = false;
  #isEnded = false;
  readonly #element = new CollectedBytes();
  readonly #limit: number;

  /** `limit` is for one element. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The bytes of an element that has begun. */
  get keptBytes(): number {
    return this.#element.length;
  }

  /** Undefined when an element is larger than may be kept. Throws TranscodeError. */
  read(data: Buffer): readonly Buffer[] | undefined {
    const elements: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < data.length; at++) {
      const wasOutside = this.#depth === 0;
      if (this.#isEnded && !isSpace(data[at] as number)) failBehind(data, at);
      const isBoundary = this.#step(data[at] as number);
      if (!isBoundary) continue;
      if (!wasOutside) {
        this.#keep(data.subarray(start, at));
        const element = this.#element.joined();
        this.#element.clear();
        if (!isBlank(element)) elements.push(element);
      }
      start = at + 1;
    }
    if (this.#depth > 0) this.#keep(data.subarray(start));
    return this.#element.length > this.#limit ? undefined : elements;
  }

  /** Throws TranscodeError for a list that has not ended. */
  end(): void {
    if (!this.#isEnded && this.#depth === 0) throw new TranscodeError(NO_LIST);
    if (this.#depth > 0) {
      throw new TranscodeError('Unexpected end of string. Expected , or ] after array value.\n\n^');
    }
  }

  #keep(piece: Buffer): void {
    this.#element.add(Buffer.from(piece));
  }

  /** Whether the byte stands between elements, or before the first or behind the last. */
  #step(byte: number): boolean {
    if (this.#quote !== 0) {
      this.#inString(byte);
      return false;
    }
    if (this.#depth === 0) return this.#outside(byte);
    if (this.#depth === 1 && (byte === COMMA || byte === LIST_END)) {
      if (byte === LIST_END) {
        this.#depth = 0;
        this.#isEnded = true;
      }
      return true;
    }
    if (byte === QUOTE || byte === SINGLE_QUOTE) this.#quote = byte;
    else if (byte === OBJECT_BEGIN || byte === LIST_BEGIN) this.#depth++;
    else if (byte === OBJECT_END || byte === LIST_END) this.#depth--;
    return false;
  }

  #outside(byte: number): boolean {
    if (isSpace(byte)) return false;
    if (byte === OBJECT_BEGIN) throw new TranscodeError(NO_LIST);
    if (byte !== LIST_BEGIN) throw new TranscodeError(': Root element must be a list.');
    this.#depth = 1;
    return true;
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === this.#quote) this.#quote = 0;
  }
}

function failBehind(data: Buffer, at: number): never {
  const start = Math.max(0, at - CONTEXT);
  const shown = data.toString('utf8', start, at + CONTEXT);
  const indent = ' '.repeat(data.toString('utf8', start, at).length);
  throw new TranscodeError(`Parsing terminated before end of input.\n${shown}\n${indent}^`);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function isBlank(text: Buffer): boolean {
  return text.every(isSpace);
}
