/** Escapes of JSON strings and numbers that are not plain digits, as Envoy takes them. */
import { NO_MORE } from './json-syntax-error.ts';

/** What stands there and how long it is, or what is wrong with it. */
export type Token =
  | { readonly value: string; readonly length: number }
  | { readonly fault: string; readonly words?: string };

const SIMPLE_ESCAPES = new Map([
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** What follows a backslash. */
export function readEscape(text: string, at: number): Token {
  const letter = text[at] ?? '';
  if (letter === 'u') return readUnicodeEscape(text, at);
  const value = SIMPLE_ESCAPES.get(letter);
  if (value !== undefined) return { value, length: 1 };
  return { fault: letter === '' ? NO_MORE : `invalid escape char: '${letter}'` };
}

/** Halves of a surrogate pair must come together. */
function readUnicodeEscape(text: string, at: number): Token {
  const match = /u([0-9a-fA-F]{4})(?:\\u([0-9a-fA-F]{4}))?/y;
  match.lastIndex = at;
  const found = match.exec(text);
  if (found === null) return { fault: 'invalid Unicode escape' };
  const first = Number.parseInt(found[1] ?? '', 16);
  if (first < 0xd800 || first > 0xdfff) return { value: String.fromCharCode(first), length: 5 };
  const second = Number.parseInt(found[2] ?? '', 16);
  const fault = 'invalid Unicode escape: half of a surrogate pair';
  if (first > 0xdbff) return { fault, words: 'unpaired low surrogate' };
  if (found[2] === undefined) {
    const next = text[at + 5] ?? '';
    return { fault, words: `unexpected character: '${next}'; expected '\\u'` };
  }
  const isPair = second >= 0xdc00 && second <= 0xdfff;
  if (!isPair) return { fault, words: 'invalid low surrogate' };
  return { value: String.fromCharCode(first, second), length: 11 };
}

/** The text of the number. */
export function readNumber(text: string, at: number): Token {
  const number = /-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]*)?/y;
  number.lastIndex = at;
  const value = number.exec(text)?.[0];
  if (value === undefined) return { fault: 'expected a number' };
  if (/^-?0[0-9]/.test(value)) return { fault: 'number cannot have extraneous leading zero' };
  if (/\.($|[eE])/.test(value)) return { fault: 'number cannot have trailing period' };
  if (/[eE][+-]?$/.test(value) || !Number.isFinite(Number(value))) {
    return { fault: `invalid number: '${value}'` };
  }
  return { value, length: value.length };
}
