/**
 * The field CDN-Loop of RFC 8586: which delivery networks a request has passed. Envoy's parser
 * decides where the RFC is silent: empty elements pass, blanks around `=` do not.
 */

/** Thrown with the words that Envoy has for it. */
export class CdnLoopError extends Error {}

/** How often `id` stands in the list. Throws CdnLoopError where the text is no list. */
export function countCdnId(text: string, id: string): number {
  const reader = new Reader(text);
  let count = 0;
  for (;;) {
    reader.skipBlanks();
    if (!reader.isAtEnd && reader.peek() !== ',') {
      if (reader.readElement() === id) count += 1;
      reader.skipBlanks();
    }
    if (reader.isAtEnd) return count;
    if (!reader.takeIf(',')) reader.fail("expected ','");
  }
}

/** Throws CdnLoopError where the text is not exactly one name. */
export function checkCdnId(text: string): void {
  const reader = new Reader(text);
  reader.readId();
  if (!reader.isAtEnd) throw new CdnLoopError('');
}

const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const LITERAL = /[0-9A-Fa-f:.]*/y;
const PORT = /[0-9]*/y;
const BLANKS = /[ \t]*/y;
/** Tab, blank, visible characters but `"` and `\`, bytes above ASCII; or an escaped one of them. */
const QUOTED = /"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  peek(): string {
    return this.#text.charAt(this.#at);
  }

  takeIf(character: string): boolean {
    if (this.peek() !== character || this.isAtEnd) return false;
    this.#at += 1;
    return true;
  }

  skipBlanks(): void {
    this.#take(BLANKS);
  }

  /** A name with its parameters; gives the name. */
  readElement(): string {
    const id = this.readId();
    for (this.skipBlanks(); this.takeIf(';'); this.skipBlanks()) {
      this.skipBlanks();
      this.#readToken();
      if (!this.takeIf('=')) this.fail("expected '='");
      if (this.peek() !== '"') this.#readToken();
      else if (this.#take(QUOTED) === '') this.fail('expected the end of a quoted string');
    }
    return id;
  }

  readId(): string {
    const start = this.#at;
    if (this.takeIf('[')) {
      this.#take(LITERAL);
      if (!this.takeIf(']')) this.fail("expected closing ']' of IPv6 literal");
    } else {
      this.#readToken();
    }
    if (this.takeIf(':')) this.#take(PORT);
    return this.#text.slice(start, this.#at);
  }

  fail(expected: string): never {
    const found = this.isAtEnd ? 'found end-of-input' : `found '${this.peek()}'`;
    throw new CdnLoopError(`${expected} at position ${this.#at} ${found}`);
  }

  #readToken(): void {
    if (this.#take(TOKEN) !== '') return;
    const found = this.isAtEnd ? 'end-of-input' : `'${this.peek()}'`;
    throw new CdnLoopError(`expected token starting at position ${this.#at}; found ${found}`);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += taken.length;
    return taken;
  }
}
