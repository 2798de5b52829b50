/** Functions of CEL on texts, and `size`. Texts are byte strings; sizes count code points. */
import { toByteString } from '../../shared/regex/byte-string.ts';
import { asciiLower } from '../../shared/text/ascii.ts';
import { CEL_STRING_MAX, TOO_LONG } from './arithmetic.ts';
import { CelBytes, isList, isMap, NO_OVERLOAD, type CelValue } from './values.ts';

export function sizeOf(value: CelValue): CelValue {
  if (typeof value === 'string') return BigInt(codePoints(value));
  if (value instanceof CelBytes) return BigInt(value.text.length);
  if (isList(value)) return BigInt(value.length);
  return isMap(value) ? BigInt(value.size) : NO_OVERLOAD;
}

function codePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.charCodeAt(index) & 0xc0) !== 0x80) count += 1;
  }
  return count;
}

type TextTest = (text: string, part: string) => boolean;

export const TEXT_TESTS: ReadonlyMap<string, TextTest> = new Map<string, TextTest>([
  ['contains', (text, part) => text.includes(part)],
  ['startsWith', (text, part) => text.startsWith(part)],
  ['endsWith', (text, part) => text.endsWith(part)],
]);

type TextFunction = (text: string, args: readonly CelValue[]) => CelValue;

/** Those that a configuration has to switch on. */
export const TEXT_FUNCTIONS: ReadonlyMap<string, TextFunction> = new Map<string, TextFunction>([
  ['lowerAscii', (text) => asciiLower(text)],
  ['upperAscii', (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ['replace', replace],
  ['split', split],
]);

function replace(text: string, [from, to, count]: readonly CelValue[]): CelValue {
  if (typeof from !== 'string' || typeof to !== 'string') return NO_OVERLOAD;
  const limit = limitOf(count);
  if (limit === undefined) return NO_OVERLOAD;
  const parts = splitText(text, from, limit === Infinity ? limit : limit + 1);
  const length = parts.length * to.length + text.length;
  return length > CEL_STRING_MAX ? TOO_LONG : parts.join(to);
}

function split(text: string, [by, count]: readonly CelValue[]): CelValue {
  const limit = limitOf(count);
  if (typeof by !== 'string' || limit === undefined) return NO_OVERLOAD;
  return limit === 0 ? [] : splitText(text, by, limit);
}

/** Absent or negative: no limit. */
function limitOf(count: CelValue | undefined): number | undefined {
  if (count === undefined) return Infinity;
  if (typeof count !== 'bigint') return undefined;
  return count < 0n ? Infinity : Number(count);
}

/** At most `limit` parts, the last of which has the rest. Without a separator: by code point. */
function splitText(text: string, by: string, limit: number): readonly string[] {
  const parts =
    by === ''
      ? Array.from(Buffer.from(text, 'latin1').toString('utf8'), toByteString)
      : text.split(by);
  if (parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(by)];
}
