/** Words of Lua source, which has one character per byte. LuaJIT's errors, word for word. */
import { LuaError } from './lua-error.ts';
import { parseNumber } from './numbers.ts';

export type Token =
  | { readonly kind: 'name' | 'string'; readonly text: string; readonly line: number }
  | {
      readonly kind: 'number';
      readonly value: number;
      readonly text: string;
      readonly line: number;
    }
  | { readonly kind: 'word'; readonly text: string; readonly line: number }
  | { readonly kind: 'end'; readonly text: '<eof>'; readonly line: number };

const KEYWORDS = new Set(
  'and break do else elseif end false for function goto if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);
const SYMBOL = /\.\.\.|\.\.|==|~=|<=|>=|::|[-+*/%^#<>=(){}[\];:,.]/y;
const NAME = /[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*/y;
const NUMBER = /0[xX](?:[pP][+-]|[A-Za-z0-9_.])*|(?:[eE][+-]|[A-Za-z0-9_.])+/y;
const LONG_OPENING = /\[(=*)\[/y;
const SPACE = /[ \t\v\f]+/y;
const SIMPLE_ESCAPES = new Map<string, string>([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
]);
const CODE_POINT_MAX = 0x10ffff;

export class Lexer {
  readonly chunk: string;
  readonly #source: string;
  #at = 0;
  line = 1;

  constructor(source: string, chunk: string) {
    this.#source = source;
    this.chunk = chunk;
    if (source.startsWith('#')) this.#at = this.#lineEnd();
  }

  next(): Token {
    this.#skipSpace();
    const { line } = this;
    const char = this.#source[this.#at];
    if (char === undefined) return { kind: 'end', text: '<eof>', line };
    if (char === '"' || char === "'") return { kind: 'string', text: this.#string(char), line };
    const name = this.#match(NAME);
    if (name !== undefined) return { kind: KEYWORDS.has(name) ? 'word' : 'name', text: name, line };
    if (/[0-9]/.test(char) || /^\.[0-9]/.test(this.#source.slice(this.#at, this.#at + 2))) {
      return this.#number();
    }
    if (char === '[') {
      const text = this.#long('string');
      if (text !== undefined) return { kind: 'string', text, line };
    }
    const symbol = this.#match(SYMBOL);
    if (symbol !== undefined) return { kind: 'word', text: symbol, line };
    this.#at += 1;
    return { kind: 'word', text: char, line };
  }

  fail(message: string, near: string | undefined, line = this.line): never {
    const end = near === undefined ? '' : ` near '${near}'`;
    throw new LuaError(`${this.chunk}:${line}: ${message}${end}`);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #lineEnd(): number {
    const at = this.#source.indexOf('\n', this.#at);
    return at < 0 ? this.#source.length : at;
  }

  #skipSpace(): void {
    for (;;) {
      this.#match(SPACE);
      const char = this.#source[this.#at];
      if (char === '\n' || char === '\r') this.#newLine();
      else if (char === '-' && this.#source[this.#at + 1] === '-') this.#comment();
      else return;
    }
  }

  #newLine(): void {
    const pair = this.#source.slice(this.#at, this.#at + 2);
    this.#at += pair === '\r\n' || pair === '\n\r' ? 2 : 1;
    this.line += 1;
  }

  #comment(): void {
    this.#at += 2;
    if (this.#long('comment') === undefined) this.#at = this.#lineEnd();
  }

  /** Undefined where there is no long bracket. */
  #long(what: 'string' | 'comment'): string | undefined {
    LONG_OPENING.lastIndex = this.#at;
    const level = LONG_OPENING.exec(this.#source)?.[1];
    if (level === undefined) return undefined;
    const start = this.#at + level.length + 2;
    const end = this.#source.indexOf(`]${level}]`, start);
    if (end < 0) {
      this.line += this.#source.slice(start).split('\n').length - 1;
      this.fail(`unfinished long ${what}`, '<eof>');
    }
    const text = this.#source.slice(start, end);
    this.#at = end + level.length + 2;
    this.line += text.split('\n').length - 1;
    return text.replace(/\r\n?/g, '\n').replace(/^\n/, '');
  }

  #number(): Token {
    const { line } = this;
    const text = this.#match(NUMBER) ?? '';
    const value = /^[0-9.]/.test(text) ? parseNumber(text) : undefined;
    if (value === undefined) this.fail('malformed number', text);
    return { kind: 'number', value, text, line };
  }

  #string(quote: string): string {
    const start = this.#at;
    this.#at += 1;
    const parts: string[] = [];
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) this.fail('unfinished string', '<eof>');
      if (char === '\n' || char === '\r') {
        this.fail('unfinished string', this.#source.slice(start, this.#at));
      }
      this.#at += 1;
      if (char === quote) return parts.join('');
      parts.push(char === '\\' ? this.#escape(start) : char);
    }
  }

  #escape(start: number): string {
    const char = this.#source[this.#at];
    if (char === undefined) this.fail('unfinished string', '<eof>');
    const simple = SIMPLE_ESCAPES.get(char);
    if (simple !== undefined) {
      this.#at += 1;
      return simple;
    }
    if (char === '\n' || char === '\r') {
      this.#newLine();
      return '\n';
    }
    if (char === 'z') return this.#skipInString();
    const bytes = this.#numericEscape();
    if (bytes === undefined) {
      this.fail('invalid escape sequence', this.#source.slice(start, this.#at));
    }
    return bytes;
  }

  #skipInString(): string {
    this.#at += 1;
    for (;;) {
      this.#match(SPACE);
      const char = this.#source[this.#at];
      if (char !== '\n' && char !== '\r') return '';
      this.#newLine();
    }
  }

  #numericEscape(): string | undefined {
    const hex = this.#match(/x[0-9a-fA-F]{2}/y);
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex.slice(1), 16));
    const unicode = this.#match(/u\{[0-9a-fA-F]{1,8}\}/y);
    if (unicode !== undefined) {
      const point = Number.parseInt(unicode.slice(2), 16);
      if (point > CODE_POINT_MAX) return undefined;
      return Buffer.from(String.fromCodePoint(point)).toString('latin1');
    }
    const decimal = this.#match(/[0-9]{1,3}/y);
    return decimal === undefined || Number(decimal) > 0xff
      ? undefined
      : String.fromCharCode(Number(decimal));
  }
}
