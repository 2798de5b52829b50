/**
 * Reads the heads of one direction of an HTTP/1 connection, one after the other: gathers a head's
 * bytes, parses them and refuses what is too large. Both codecs read with it.
 */
import { HeaderMap } from '../stream/header-map.ts';
import { HeadText } from './head-text.ts';
import { HeaderBlockParser } from './header-block.ts';
import { headSizeError, type MessageLimits, mostHeadBytes } from './message-limits.ts';
import { type ParseError, parseErrors } from './parse-errors.ts';

/** Parses a head that is there whole, its first line too. */
type ParseHead = (
  text: string,
  headers: HeaderMap,
  block: HeaderBlockParser,
) => ParseError | undefined;

export class HeadReader {
  /** What the header lines of the last head say of framing. */
  readonly block: HeaderBlockParser;
  readonly #text: HeadText;
  readonly #limits: MessageLimits;
  readonly #parse: ParseHead;
  #isLineChecked = false;
  /** Bytes of the last head that its last read brought. */
  taken = 0;
  /** Why the last head is refused. */
  error: ParseError | undefined = undefined;

  constructor(limits: MessageLimits, parse: ParseHead) {
    this.block = new HeaderBlockParser(limits);
    this.#text = new HeadText(mostHeadBytes(limits));
    this.#limits = limits;
    this.#parse = parse;
  }

  /** Nothing of the next head has come. */
  get isEmpty(): boolean {
    return this.#text.isEmpty;
  }

  /** What `check` says of the first line of a head whose rest is missing; asked once for a head. */
  earlyError(check: (line: string) => ParseError | undefined): ParseError | undefined {
    const line = this.#isLineChecked ? undefined : this.#text.firstLine;
    if (line === undefined) return undefined;
    this.#isLineChecked = true;
    return check(line);
  }

  /**
   * Undefined while the head is incomplete, when all of the input has been stored, and where `error`
   * says why there is none.
   */
  read(input: Buffer, start: number, end: number): HeaderMap | undefined {
    const { stored } = this.#text;
    if (stored === 0) this.#isLineChecked = false;
    const text = this.#text.read(input, start, end);
    this.error = undefined;
    if (text === undefined) {
      if (this.#text.isTooLarge) this.error = parseErrors.headersTooLarge;
      return undefined;
    }
    const headers = new HeaderMap();
    if (this.#limits.headerCase === 'preserve') headers.originalNames = [];
    this.error =
      this.#parse(text, headers, this.block) ??
      headSizeError(this.block.end, headers.count, this.#limits);
    this.#text.clear();
    if (this.error !== undefined) return undefined;
    this.taken = this.block.end - stored;
    return headers;
  }

  clear(): void {
    this.#text.clear();
  }
}
