/** Reads the tokens of an expression in CEL's own syntax. Source: cel-spec, langdef.md. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import { CelError } from './syntax.ts';

export type CelToken =
  | {
      readonly kind: 'name' | 'int' | 'uint' | 'double';
      readonly text: string;
      readonly at: number;
    }
  | { readonly kind: 'string' | 'bytes'; readonly text: string; readonly at: number }
  | { readonly kind: 'sign' | 'end'; readonly text: string; readonly at: number };

const BLANK = /(?:[\t\n\f\r ]+|\/\/[^\n]*)*/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER =
  /0[xX][\da-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?/y;
const SIGN = /&&|\|\||<=|>=|==|!=|[-+*/%!<>?:.,()[\]{}]/y;
const QUOTE = /([rR]?[bB]|[bB]?[rR])?("""|'''|"|')/y;

/** Throws CelError with the place. */
export function celTokens(text: string): readonly CelToken[] {
  const tokens: CelToken[] = [];
  let position = 0;
  for (;;) {
    position += read(BLANK, text, position)?.[0].length ?? 0;
    if (position >= text.length) break;
    const quote = read(QUOTE, text, position);
    if (quote !== null) {
      const [token, end] = quoted(text, position, quote);
      tokens.push(token);
      position = end;
      continue;
    }
    const token = plainToken(text, position);
    tokens.push(token);
    position += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: position });
  return tokens;
}

function plainToken(text: string, at: number): CelToken {
  const name = read(NAME, text, at)?.[0];
  if (name !== undefined) return { kind: 'name', text: name, at };
  const number = read(NUMBER, text, at)?.[0];
  if (number !== undefined) return { kind: numberKind(number), text: number, at };
  const sign = read(SIGN, text, at)?.[0];
  if (sign !== undefined) return { kind: 'sign', text: sign, at };
  throw syntaxError(text, at, `token recognition error at: '${text.slice(at, at + 1)}'`);
}

function numberKind(text: string): 'int' | 'uint' | 'double' {
  if (/^0x/i.test(text)) return /u$/i.test(text) ? 'uint' : 'int';
  if (/[.e]/i.test(text)) return 'double';
  return /u$/i.test(text) ? 'uint' : 'int';
}

function read(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function syntaxError(text: string, at: number, problem: string): CelError {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = at - before.lastIndexOf('\n');
  return new CelError(`ERROR: <input>:${line}:${column}: Syntax error: ${problem}`);
}

function quoted(text: string, at: number, quote: RegExpExecArray): [CelToken, number] {
  const [whole, prefix = '', mark = ''] = quote;
  const isRaw = /r/i.test(prefix);
  const isBytes = /b/i.test(prefix);
  const start = at + whole.length;
  let end = start;
  while (!text.startsWith(mark, end)) {
    const isLineEnd = mark.length === 1 && /[\n\r]/.test(text[end] ?? '');
    if (end >= text.length || isLineEnd) {
      throw syntaxError(text, at, `token recognition error at: '${text.slice(at, end)}'`);
    }
    end += !isRaw && text[end] === '\\' ? 2 : 1;
  }
  const raw = text.slice(start, end);
  const value = isRaw
    ? toByteString(raw)
    : unescaped(raw, isBytes, () => syntaxError(text, at, 'invalid escape'));
  return [{ kind: isBytes ? 'bytes' : 'string', text: value, at }, end + mark.length];
}

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-3][0-7]{2})|)/g;
const SHORT: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);
const LARGEST_CODE_POINT = 0x10_ff_ff;

/** Numbers in the escapes of `bytes` are bytes, elsewhere code points. */
function unescaped(raw: string, isBytes: boolean, wrong: () => CelError): string {
  const parts: string[] = [];
  let position = 0;
  for (const match of raw.matchAll(ESCAPE)) {
    parts.push(toByteString(raw.slice(position, match.index)));
    position = match.index + match[0].length;
    const text = escapeText(match, isBytes);
    if (text === undefined) throw wrong();
    parts.push(text);
  }
  parts.push(toByteString(raw.slice(position)));
  return parts.join('');
}

/** Undefined for an escape that there is not. */
function escapeText(match: RegExpMatchArray, isBytes: boolean): string | undefined {
  const [, short, hex, four, eight, octal] = match;
  if (short !== undefined) return SHORT.get(short) ?? short;
  const wide = four ?? eight;
  if (isBytes && wide !== undefined) return undefined;
  const number = octal === undefined ? Number.parseInt(hex ?? wide ?? '', 16) : parseOctal(octal);
  const isSurrogate = number >= 0xd8_00 && number <= 0xdf_ff;
  // NaN where there is no number at all.
  if (!(number <= LARGEST_CODE_POINT) || isSurrogate) return undefined;
  return isBytes ? String.fromCharCode(number) : toByteString(String.fromCodePoint(number));
}

function parseOctal(text: string): number {
  return Number.parseInt(text, 8);
}
