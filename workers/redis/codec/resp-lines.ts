/** What a line may have behind the byte that says its kind: how long it is, and of what form. */
import { constants } from 'node:buffer';
import { RespError } from './resp-error.ts';
import { RespKind } from './resp-value.ts';

/** The limit of one bulk string. */
export const BULK_BYTES_MAX = 512 * 1024 * 1024;
/** The runtime has no longer text. */
export const TEXT_BYTES_MAX = constants.MAX_STRING_LENGTH;
const DOUBLE_BYTES_MAX = 64;
const BIG_NUMBER_BYTES_MAX = 16 * 1024;
/** The limit of a length or an integer: more are no 64-bit number. */
const NUMBER_BYTES_MAX = 64;

const CR = 13;
const MINUS = 45;
const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** Others are numbers. */
const LONGEST = new Map<RespKind | '|', number>([
  // Envoy has no limit for texts.
  [RespKind.simple, TEXT_BYTES_MAX],
  [RespKind.error, TEXT_BYTES_MAX],
  [RespKind.double, DOUBLE_BYTES_MAX],
  [RespKind.bigNumber, BIG_NUMBER_BYTES_MAX],
  [RespKind.boolean, 1],
  [RespKind.nothing, 0],
]);

export function longestLine(kind: RespKind | '|'): number {
  return LONGEST.get(kind) ?? NUMBER_BYTES_MAX;
}

/** Where the line ends, or the input within it. Throws for what can be no number. */
export function endOfLine(kind: RespKind | '|', input: Buffer, start: number, end: number): number {
  return LONGEST.has(kind) ? endOfText(input, start, end) : endOfNumber(input, start, end);
}

const FORMS = {
  [RespKind.boolean]: /^[tf]$/,
  [RespKind.double]:
    /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|nan)$/i,
  [RespKind.bigNumber]: /^[+-]?\d+$/,
} as const;

function endOfText(input: Buffer, start: number, end: number): number {
  const found = input.indexOf(CR, start);
  return found < 0 || found >= end ? end : found;
}

/** What is no digit is found at once, not when the line ends. */
function endOfNumber(input: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = input[at] as number;
    if (byte === CR) return at;
    if (byte !== MINUS && (byte < DIGIT_0 || byte > DIGIT_9)) {
      throw new RespError('a number with other characters');
    }
  }
  return end;
}

export function isWellFormed(kind: keyof typeof FORMS, line: string): boolean {
  return FORMS[kind].test(line);
}

const NUMBER_FORM = /^-?\d+$/;
const INTEGER_MAX = 2n ** 63n - 1n;

/** How many items or bytes follow; above every limit where it is no safe number. */
export function lengthOf(line: string): number {
  if (!NUMBER_FORM.test(line) || Object.is(Number(line), -0)) {
    throw new RespError('a length that is no number');
  }
  return Number(line);
}

/** Without leading zeros. */
export function integerText(line: string): string {
  if (!NUMBER_FORM.test(line)) throw new RespError('an integer that is no number');
  if (line.length < 16 && line[0] !== '0' && line[0] !== '-') return line;
  const number = BigInt(line);
  if (number > INTEGER_MAX || number < -INTEGER_MAX - 1n) {
    throw new RespError('an integer that is too large');
  }
  return number.toString();
}
