/** A position in a pattern, the error type of the parser, and escapes that stand for one byte. */

/** `message` is RE2's own: the kind of mistake, a colon, the text that it is about. */
export class RegexSyntaxError extends Error {
  readonly code = 'regex_syntax';

  constructor(what: string, about?: string) {
    super(about === undefined ? what : `${what}: ${about}`);
  }
}

export class Cursor {
  readonly text: string;
  #position = 0;

  constructor(text: string) {
    this.text = text;
  }

  get position(): number {
    return this.#position;
  }

  get atEnd(): boolean {
    return this.#position >= this.text.length;
  }

  /** The character so many places ahead, without taking it. */
  peek(ahead = 0): string | undefined {
    return this.text[this.#position + ahead];
  }

  /** The next character; the empty string at the end. */
  take(): string {
    return this.text[this.#position++] ?? '';
  }

  skip(count: number): void {
    this.#position += count;
  }

  rest(): string {
    return this.text.slice(this.#position);
  }

  since(start: number): string {
    return this.text.slice(start, this.#position);
  }
}

const CONTROL_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['a', 0x07],
  ['f', 0x0c],
  ['v', 0x0b],
]);

/** Reads `\n`, `\.`, `\x7F`, `\x{7f}`, `\012` and the like; the cursor stands on the backslash. */
export function parseEscape(cursor: Cursor): number {
  const start = cursor.position;
  cursor.skip(1);
  if (cursor.atEnd) throw new RegexSyntaxError('trailing \\');
  const character = cursor.take();
  if (/[0-7]/.test(character)) return octalEscape(cursor, start, character);
  if (character === 'x') return hexEscape(cursor, start);
  const control = CONTROL_ESCAPES.get(character);
  if (control !== undefined) return control;
  const byte = character.charCodeAt(0);
  if (byte >= 0x80 || /[A-Za-z0-9]/.test(character)) throw badEscape(cursor, start);
  return byte;
}

function octalEscape(cursor: Cursor, start: number, first: string): number {
  const more = /^[0-7]{0,2}/.exec(cursor.rest())?.[0] ?? '';
  // A single digit from 1 to 7 would be a back-reference.
  if (first !== '0' && more === '') throw badEscape(cursor, start);
  cursor.skip(more.length);
  const byte = Number.parseInt(first + more, 8);
  if (byte > 0xff) throw badEscape(cursor, start);
  return byte;
}

function hexEscape(cursor: Cursor, start: number): number {
  if (cursor.peek() !== '{') {
    const digits = cursor.rest().slice(0, 2);
    cursor.skip(digits.length);
    if (!/^[0-9A-Fa-f]{2}$/.test(digits)) throw badEscape(cursor, start);
    return Number.parseInt(digits, 16);
  }
  cursor.skip(1);
  let byte = 0;
  for (let digits = 0; ; digits++) {
    const character = cursor.take();
    if (character === '}' && digits > 0) return byte;
    if (!/^[0-9A-Fa-f]$/.test(character)) throw badEscape(cursor, start);
    byte = byte * 16 + Number.parseInt(character, 16);
    if (byte > 0xff) throw badEscape(cursor, start);
  }
}

function badEscape(cursor: Cursor, start: number): RegexSyntaxError {
  return new RegexSyntaxError('invalid escape sequence', cursor.since(start));
}
