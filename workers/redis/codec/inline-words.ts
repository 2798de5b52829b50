/**
 * Inline commands, as people type them: words with blanks between them, to the end of the line.
 * Words may be quoted; within double quotes a backslash escapes, within single quotes it does so
 * for a single quote alone.
 */
import { RespError } from './resp-error.ts';
import { bulk, type RespValue } from './resp-value.ts';

const CR = 13;
const LF = 10;
const QUOTE = 34;
const SINGLE_QUOTE = 39;
const BACKSLASH = 92;
const LETTER_X = 120;

/** The limit of one inline command. Redis takes 64 KiB; Envoy has no limit. */
const INLINE_BYTES_MAX = 1024 * 1024;

/** Letters behind a backslash, and what they stand for. */
const ESCAPED = new Map<number, number>([
  [110, LF],
  [114, CR],
  [116, 9],
  [98, 8],
  [97, 7],
]);

type Place =
  | 'between'
  | 'word'
  | 'quoted'
  | 'escape'
  | 'hex'
  | 'single'
  | 'single_escape'
  | 'behind_quote'
  | 'line_end';

export function startsInline(byte: number): boolean {
  return isBlank(byte) || isAlphanumeric(byte) || byte === QUOTE || byte === SINGLE_QUOTE;
}

export class InlineWords {
  readonly #wordsMax: number;
  #place: Place = 'between';
  #words: RespValue[] = [];
  #word: number[] = [];
  #hex = '';
  #bytes = 0;
  #isWhole = false;

  constructor(wordsMax: number) {
    this.#wordsMax = wordsMax;
  }

  /** Reads to the end of the line, or of the input: gives where it stopped. */
  read(input: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && !this.#isWhole) {
      if (++this.#bytes > INLINE_BYTES_MAX) throw new RespError('a line that is too long');
      if (this.#take(input[at] as number)) at++;
    }
    return at;
  }

  /** The words of the line, once it is whole. */
  take(): readonly RespValue[] | undefined {
    if (!this.#isWhole) return undefined;
    const words = this.#words;
    this.drop();
    return words;
  }

  drop(): void {
    this.#place = 'between';
    this.#words = [];
    this.#word = [];
    this.#bytes = 0;
    this.#isWhole = false;
  }

  /** False: the byte belongs to what follows. */
  #take(byte: number): boolean {
    switch (this.#place) {
      case 'between':
        this.#begin(byte);
        return true;
      case 'word':
        this.#continue(byte);
        return true;
      case 'behind_quote':
        this.#separate(byte);
        return true;
      case 'line_end':
        if (byte !== LF) throw new RespError('a line without its end');
        this.#isWhole = true;
        return true;
      case 'quoted':
      case 'single':
        this.#quote(byte);
        return true;
      case 'escape':
        this.#escape(byte);
        return true;
      case 'hex':
        return this.#readHex(byte);
      case 'single_escape':
        return this.#escapeSingle(byte);
    }
  }

  #begin(byte: number): void {
    if (byte === CR) this.#place = 'line_end';
    else if (!isBlank(byte)) {
      if (this.#words.length >= this.#wordsMax) throw new RespError('too many words');
      this.#place = byte === QUOTE ? 'quoted' : byte === SINGLE_QUOTE ? 'single' : 'word';
      if (this.#place === 'word') this.#word.push(byte);
    }
  }

  #continue(byte: number): void {
    if (byte === QUOTE) throw unbalanced();
    if (byte !== CR && !isBlank(byte)) {
      this.#word.push(byte);
      return;
    }
    this.#endWord();
    this.#place = byte === CR ? 'line_end' : 'between';
  }

  #quote(byte: number): void {
    const isSingle = this.#place === 'single';
    if (byte === CR) throw unbalanced();
    if (byte === (isSingle ? SINGLE_QUOTE : QUOTE)) {
      this.#endWord();
      this.#place = 'behind_quote';
    } else if (byte === BACKSLASH) {
      if (isSingle) this.#word.push(byte);
      this.#place = isSingle ? 'single_escape' : 'escape';
    } else this.#word.push(byte);
  }

  #escape(byte: number): void {
    if (byte === CR) throw unbalanced();
    if (byte === LETTER_X) {
      this.#word.push(byte);
      this.#hex = '';
      this.#place = 'hex';
      return;
    }
    this.#word.push(ESCAPED.get(byte) ?? byte);
    this.#place = 'quoted';
  }

  #separate(byte: number): void {
    if (byte !== CR && !isBlank(byte)) throw unbalanced();
    this.#place = byte === CR ? 'line_end' : 'between';
  }

  /** The backslash stays, unless a quote is behind it. */
  #escapeSingle(byte: number): boolean {
    this.#place = 'single';
    if (byte !== SINGLE_QUOTE) return false;
    this.#word[this.#word.length - 1] = byte;
    return true;
  }

  /** Two digits stand for a byte; fewer for themselves. */
  #readHex(byte: number): boolean {
    const digit = String.fromCharCode(byte);
    if (!/[0-9a-fA-F]/.test(digit)) {
      this.#place = 'quoted';
      return false;
    }
    this.#word.push(byte);
    this.#hex += digit;
    if (this.#hex.length === 2) {
      this.#word.splice(-3, 3, Number.parseInt(this.#hex, 16));
      this.#place = 'quoted';
    }
    return true;
  }

  #endWord(): void {
    this.#words.push(bulk(Buffer.from(this.#word).toString('latin1')));
    this.#word = [];
  }
}

function unbalanced(): RespError {
  return new RespError('unbalanced quotes');
}

function isBlank(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
}
