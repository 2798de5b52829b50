/**
 * Scalars as Envoy's YAML reader goes through them: only where they end and what it refuses in
 * them.
 */
import { YamlFault, isBlank, isOneOf, isSpaceOrEnd, type YamlText } from './yaml-characters.ts';

const TAB = 'illegal tab when looking for indentation';
const BAD_HEX = 'bad character found while scanning hex number';
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
const ESCAPES = '0abtnvfre "\'\\/N_LP\n\t';
const LAST_CODE_POINT = 0x10_ffff;

/** Returns whether it ended by going on to a line of less indentation. */
export function eatPlain(text: YamlText, indent: number, isInFlow: boolean): boolean {
  for (;;) {
    while (!text.isAtEnd && text.peek() !== '\n' && !isPlainEnd(text, isInFlow)) text.eat();
    if (text.peek() !== '\n') {
      // Blanks before a comment end it too; those before a sign do not start a line.
      return false;
    }
    while (text.peek() === '\n') {
      text.eat();
      eatIndentation(text, indent, true);
    }
    const isOver = text.isAtEnd || text.column < indent || text.peek() === '#';
    if (isOver || text.isAtDocumentSign('---') || text.isAtDocumentSign('...')) return true;
    if (isPlainEnd(text, isInFlow)) return false;
  }
}

function isPlainEnd(text: YamlText, isInFlow: boolean): boolean {
  const character = text.peek();
  const next = text.peek(1);
  if (character === ':') {
    return isSpaceOrEnd(next) || (isInFlow && isOneOf(',]}', next));
  }
  if (isInFlow && isOneOf(',?[]{}', character)) return true;
  return isBlank(character) && next === '#';
}

/** Spaces up to the indentation, then further blanks, in which a tab is refused too early. */
function eatIndentation(text: YamlText, indent: number, eatsAll: boolean): void {
  while (text.peek() === ' ' && text.column < indent) text.eat();
  while (isBlank(text.peek())) {
    if (text.peek() === '\t' && text.column < indent) throw new YamlFault(text.mark, TAB);
    if (!eatsAll) return;
    text.eat();
  }
}

export function eatQuoted(text: YamlText): void {
  const quote = text.peek();
  text.eat();
  for (;;) {
    if (text.isAtEnd) return;
    if (text.isAtDocumentSign('---') || text.isAtDocumentSign('...')) {
      throw new YamlFault(text.mark, 'illegal document indicator in scalar');
    }
    const character = text.peek();
    if (quote === '"' && character === '\\') {
      eatEscape(text);
    } else if (character !== quote) {
      text.eat();
    } else if (quote === "'" && text.peek(1) === "'") {
      text.eat(2);
    } else {
      text.eat();
      return;
    }
  }
}

function eatEscape(text: YamlText): void {
  text.eat();
  const letter = text.peek();
  const { line, column } = text.mark;
  text.eat();
  const digits = HEX_DIGITS.get(letter);
  if (digits === undefined) {
    if (letter === '' || ESCAPES.includes(letter)) return;
    throw new YamlFault({ line, column: column + 1 }, `unknown escape character: ${letter}`);
  }
  let value = '';
  for (let digit = 0; digit < digits; digit++) value += text.peek(digit);
  text.eat(digits);
  if (value.length < digits || !/^[0-9a-fA-F]+$/.test(value)) {
    throw new YamlFault(text.mark, BAD_HEX);
  }
  const code = Number.parseInt(value, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > LAST_CODE_POINT) {
    throw new YamlFault(text.mark, `invalid unicode: ${code}`);
  }
}

/** `|` or `>` with its head and its lines; `outer` is the column of what it stands in. */
export function eatBlock(text: YamlText, outer: number): void {
  text.eat();
  const given = eatBlockHead(text);
  let indent = given === 0 ? 0 : Math.max(0, outer) + given;
  text.eat();
  while (!text.isAtEnd) {
    const isDetecting = indent === 0;
    while (text.peek() === ' ' && (isDetecting || text.column < indent)) text.eat();
    if (text.peek() === '\t' && text.column < Math.max(indent, outer + 1)) {
      throw new YamlFault(text.mark, TAB);
    }
    if (text.peek() !== '\n') {
      if (isDetecting) indent = Math.max(text.column, outer + 1);
      if (text.column < indent) return;
      text.take((character) => character !== '\n');
    }
    text.eat();
  }
}

/** Returns the indentation that the head asks for, or 0. */
function eatBlockHead(text: YamlText): number {
  let indent = 0;
  const signs = /^(?:[+-][0-9]?|[0-9][+-]?)/.exec(text.peek() + text.peek(1))?.[0] ?? '';
  text.eat(signs.length);
  for (const sign of signs) {
    if (sign === '0') {
      throw new YamlFault(text.mark, 'cannot set zero indentation for a block scalar');
    }
    if (/[0-9]/.test(sign)) indent = Number(sign);
  }
  text.take(isBlank);
  if (text.peek() === '#') text.take((character) => character !== '\n');
  if (!text.isAtEnd && text.peek() !== '\n') {
    throw new YamlFault(text.mark, 'unexpected character in block scalar');
  }
  return indent;
}
