/**
 * The text as Envoy's YAML reader goes through it: bytes would be its unit, characters are ours,
 * which differs only in columns behind letters that are not ASCII. Also the classes of characters.
 */

/** A place as it is printed: both from 1. */
export interface Mark {
  readonly line: number;
  readonly column: number;
}

/** What Envoy's reader of YAML refuses, in its words. */
export class YamlFault extends Error {
  readonly mark: Mark;

  constructor(mark: Mark, words: string) {
    super(words);
    this.mark = mark;
  }
}

export class YamlText {
  readonly #text: string;
  at = 0;
  /** Both from 0. */
  line = 0;
  column = 0;

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '');
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** At the end of the text the column is the first, whatever stands before it. */
  get mark(): Mark {
    return { line: this.line + 1, column: this.isAtEnd ? 1 : this.column + 1 };
  }

  /** The character so far ahead, or nothing at the end. */
  peek(ahead = 0): string {
    return this.#text[this.at + ahead] ?? '';
  }

  startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.at);
  }

  eat(count = 1): void {
    for (let eaten = 0; eaten < count && !this.isAtEnd; eaten++) {
      if (this.#text[this.at++] === '\n') {
        this.line++;
        this.column = 0;
      } else {
        this.column++;
      }
    }
  }

  /** Eats while the characters fit, and returns them. */
  take(fits: (character: string) => boolean): string {
    const from = this.at;
    while (!this.isAtEnd && fits(this.peek())) this.eat();
    return this.#text.slice(from, this.at);
  }

  /** `---` or `...` at the start of a line, as a word of its own. */
  isAtDocumentSign(sign: string): boolean {
    return this.column === 0 && this.startsWith(sign) && isSpaceOrEnd(this.peek(sign.length));
  }
}

export function isBlank(character: string): boolean {
  return character === ' ' || character === '\t';
}

export function isSpaceOrEnd(character: string): boolean {
  return character === '' || character === '\n' || isBlank(character);
}

export function isOneOf(set: string, character: string): boolean {
  return character !== '' && set.includes(character);
}
