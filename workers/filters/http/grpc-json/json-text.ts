/**
 * Reads JSON as protobuf's parser of streams does: besides JSON itself it takes single quotes, bare
 * keys and a comma behind the last value. Mistakes are told in its words. Members keep their order
 * and may come twice; numbers keep their text.
 */

export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class JsonObject {
  readonly members: (readonly [key: string, value: JsonNode])[] = [];
}

export type JsonNode = null | boolean | string | JsonNumber | JsonObject | readonly JsonNode[];

/** A request that cannot be transcoded: what the client is told. */
export class TranscodeError extends Error {}

const DEPTH_MAX = 100;
/** The length of a character as backslash, `u` and digits. */
const ESCAPE_LENGTH = 6;
/** What is shown on either side of a mistake. */
const CONTEXT = 20;
const NUMBER = /-?[0-9][0-9a-zA-Z.+-]*/y;
const PLAIN_NUMBER = /^-?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?$/;
/** A leading 0 means another base where there is one. */
const OTHER_BASE = /^-?0[0-9xX]/;
const BARE_KEY = /[A-Za-z_$][A-Za-z0-9_$]*/y;
const SPACE = /[ \t\r\n\v\f]*/y;
const WORDS: readonly (readonly [string, JsonNode])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** Throws TranscodeError. */
export function parseJson(bytes: Buffer): JsonNode {
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') && !bytes.equals(Buffer.from(text, 'utf8'))) {
    throw new TranscodeError('Encountered non UTF-8 code points.');
  }
  return new JsonTextReader(text).whole();
}

class JsonTextReader {
  readonly #text: string;
  #at = 0;
  /** Where the present token began: what is shown when the text ends within it. */
  #token = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): JsonNode {
    const value = this.#value(0, '');
    this.#space();
    if (this.#at < this.#text.length) this.#fail('Parsing terminated before end of input.');
    return value;
  }

  #value(depth: number, key: string): JsonNode {
    this.#space();
    const first = this.#text[this.#at];
    if (first === undefined) this.#failUnknown('Expected a value.');
    if (first === '{' || first === '[') {
      if (depth >= DEPTH_MAX) {
        this.#fail(`Message too deep. Max recursion depth reached for key '${key}'`);
      }
      this.#at++;
      return first === '{' ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (first === '"' || first === "'") return this.#string(first);
    if (first === '-' || (first >= '0' && first <= '9')) return this.#number();
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    BARE_KEY.lastIndex = this.#at;
    this.#failUnknown(BARE_KEY.test(this.#text) ? 'Unexpected token.' : 'Expected a value.');
  }

  #object(depth: number): JsonObject {
    const object = new JsonObject();
    for (;;) {
      this.#space();
      const first = this.#text[this.#at];
      if (first === '}') {
        this.#at++;
        return object;
      }
      const key = this.#key(first);
      this.#space();
      if (this.#text[this.#at] !== ':') this.#fail('Expected : between key:value pair.');
      this.#at++;
      object.members.push([key, this.#value(depth, key)]);
      this.#space();
      const next = this.#text[this.#at];
      if (next !== ',' && next !== '}') this.#fail('Expected , or } after key:value pair.');
      if (next === ',') this.#at++;
    }
  }

  #key(first: string | undefined): string {
    if (first === '"' || first === "'") return this.#string(first);
    BARE_KEY.lastIndex = this.#at;
    const bare = BARE_KEY.exec(this.#text);
    if (bare === null) this.#fail('Expected an object key or }.');
    this.#at += bare[0].length;
    return bare[0];
  }

  #array(depth: number): readonly JsonNode[] {
    const values: JsonNode[] = [];
    for (;;) {
      this.#space();
      if (this.#text[this.#at] === ']') {
        this.#at++;
        return values;
      }
      values.push(this.#value(depth, ''));
      this.#space();
      const next = this.#text[this.#at];
      if (next !== ',' && next !== ']') this.#fail('Expected , or ] after array value.');
      if (next === ',') this.#at++;
    }
  }

  #string(quote: string): string {
    this.#at++;
    let value = '';
    for (;;) {
      const start = this.#at;
      let char = this.#text[this.#at];
      while (char !== undefined && char !== quote && char !== '\\') char = this.#text[++this.#at];
      value += this.#text.slice(start, this.#at);
      if (char === undefined) this.#fail('Closing quote expected in string.');
      this.#at++;
      if (char === quote) return value;
      value += this.#escape();
    }
  }

  #escape(): string {
    const char = this.#text[this.#at];
    if (char === undefined) this.#fail('Closing quote expected in string.');
    this.#at++;
    if (char !== 'u') return ESCAPES.get(char) ?? char;
    const hex = this.#text.slice(this.#at, this.#at + 4);
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) {
      this.#fail(hex.length < 4 ? 'Illegal hex string.' : 'Invalid escape sequence.');
    }
    const code = Number.parseInt(hex, 16);
    const isHigh = code >= 0xd800 && code < 0xdc00;
    if (isHigh) this.#checkLowSurrogate();
    else if (code >= 0xdc00 && code < 0xe000 && !this.#isSecondHalf()) {
      this.#at -= 2;
      this.#fail('Invalid unicode code point.');
    }
    this.#at += 4;
    return String.fromCharCode(code);
  }

  /** The escape before was the first half of a pair. */
  #isSecondHalf(): boolean {
    return /\\u[dD][89abAB][0-9a-fA-F]{2}\\u$/.test(
      this.#text.slice(Math.max(0, this.#at - 8), this.#at),
    );
  }

  /** Behind the first half of a pair, whose digits are the next ones. */
  #checkLowSurrogate(): void {
    const escape = this.#at - 2;
    const low = this.#text.slice(this.#at + 4, this.#at + 10);
    if (/^\\u[dD][c-fC-F][0-9a-fA-F]{2}$/.test(low)) return;
    this.#at = escape;
    if (this.#text.length - escape < 2 * ESCAPE_LENGTH) this.#failUnknown('Missing low surrogate.');
    this.#fail(low.startsWith('\\u') ? 'Invalid low surrogate.' : 'Missing low surrogate.');
  }

  #number(): JsonNumber {
    NUMBER.lastIndex = this.#at;
    const found = NUMBER.exec(this.#text)?.[0] ?? '';
    if (OTHER_BASE.test(found)) this.#fail('Octal/hex numbers are not valid JSON values.');
    if (!PLAIN_NUMBER.test(found)) this.#fail('Unable to parse number.');
    if (!Number.isFinite(Number(found))) this.#fail('Number exceeds the range of double.');
    this.#at += found.length;
    return new JsonNumber(found);
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
    this.#token = this.#at;
  }

  /** Envoy's reader waits for more of what it does not know, and then sees nothing before it. */
  #failUnknown(message: string): never {
    if (this.#at >= this.#text.length) this.#fail(message);
    throw new TranscodeError(`${message}\n${this.#text.slice(this.#at, this.#at + CONTEXT)}\n^`);
  }

  #fail(message: string): never {
    const isEnd = this.#at >= this.#text.length;
    const text = isEnd ? this.#text.slice(this.#token) : this.#text;
    const at = isEnd ? 0 : this.#at;
    const start = Math.max(0, at - CONTEXT);
    const segment = text.slice(start, at + CONTEXT);
    const words = isEnd ? `Unexpected end of string. ${message}` : message;
    throw new TranscodeError(`${words}\n${segment}\n${' '.repeat(at - start)}^`);
  }
}
