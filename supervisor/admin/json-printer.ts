/**
 * Prints JSON as protobuf's own printer does: one space of indentation, its string escapes, its
 * number format. Owns the text form only; which fields are present is the caller's decision.
 */
import type { JsonValue } from '../../shared/api/well-known.ts';

/** Pieces are joined up to this many characters before a chunk is handed on. */
const CHUNK_CHARACTERS = 32 * 1024;

/** The whole text, a line feed at the end, as the reference ends its JSON pages. */
export function printJson(value: JsonValue): string {
  const parts: string[] = [];
  for (const piece of pieces(value, 0)) parts.push(piece);
  return `${parts.join('')}\n`;
}

/** The value as it stands inside another one: `depth` levels in, without a line feed. */
export function printJsonAt(value: JsonValue, depth: number): string {
  return [...pieces(value, depth)].join('');
}

/** The same text in chunks, so that a large value is never one string. */
export function* printJsonChunks(value: JsonValue): Generator<string> {
  let chunk: string[] = [];
  let characters = 0;
  for (const piece of pieces(value, 0)) {
    chunk.push(piece);
    characters += piece.length;
    if (characters >= CHUNK_CHARACTERS) {
      yield chunk.join('');
      chunk = [];
      characters = 0;
    }
  }
  chunk.push('\n');
  yield chunk.join('');
}

/** A list member of a large page: `{\n "key": [\n  …\n ]\n}` printed element by element. */
export async function* printJsonList(
  key: string,
  elements: Iterable<JsonValue> | AsyncIterable<JsonValue>,
): AsyncGenerator<string> {
  let count = 0;
  for await (const element of elements) {
    const opening = count === 0 ? `{\n ${quoteJson(key)}: [\n  ` : ',\n  ';
    yield opening + printJsonAt(element, 2);
    count++;
  }
  yield count === 0 ? '{}\n' : '\n ]\n}\n';
}

function* pieces(value: JsonValue, depth: number): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield printScalar(value);
  } else if (Array.isArray(value)) {
    yield* listPieces(value as readonly JsonValue[], depth);
  } else {
    yield* objectPieces(value as { readonly [field: string]: JsonValue }, depth);
  }
}

function* listPieces(list: readonly JsonValue[], depth: number): Generator<string> {
  if (list.length === 0) {
    yield '[]';
    return;
  }
  const indent = ' '.repeat(depth + 1);
  let separator = '[\n';
  for (const element of list) {
    yield separator + indent;
    yield* pieces(element, depth + 1);
    separator = ',\n';
  }
  yield `\n${' '.repeat(depth)}]`;
}

function* objectPieces(
  object: { readonly [field: string]: JsonValue },
  depth: number,
): Generator<string> {
  const indent = ' '.repeat(depth + 1);
  let separator = '{\n';
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    yield `${separator}${indent}${quoteJson(key)}: `;
    yield* pieces(value, depth + 1);
    separator = ',\n';
  }
  yield separator === '{\n' ? '{}' : `\n${' '.repeat(depth)}}`;
}

function printScalar(value: null | boolean | number | string): string {
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'number') return printNumber(value);
  return String(value);
}

/**
 * Fifteen significant digits when they say the number, seventeen otherwise, as C's %g writes them:
 * an exponent of at least two digits from 1e15 upward and below 1e-4.
 */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"Infinity"' : '"-Infinity"';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const precision = Number(value.toPrecision(15)) === value ? 15 : 17;
  const [mantissa = '', exponentText = '0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < precision) return String(Number(value.toPrecision(precision)));
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

// Besides what JSON demands, protobuf escapes angle brackets (so that a page read as HTML stays
// text) and invisible code points.
const MUST_ESCAPE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- code point ranges
  /["\\<>\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0603\u06dd\u070f\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}]/gu;

/** A JSON string literal with protobuf's escapes. */
export function quoteJson(text: string): string {
  return `"${text.replace(MUST_ESCAPE, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  let escaped = '';
  for (let unit = 0; unit < character.length; unit++) {
    escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
