/** `string.format`. */
import type { LuaState } from '../lua-state.ts';
import { formatExponential, formatGeneral } from '../numbers.ts';
import type { LuaValue } from '../values.ts';
import type { Arguments } from './check-arguments.ts';

const SPECIFICATION = /%(?:(%)|([-+ #0]*)(\d{0,2})(?:\.(\d{0,2}))?(.?))/gs;
const FIXED_MAX = 1e21;
const PRECISION = 6;

interface Specification {
  readonly flags: string;
  readonly width: number;
  /** Undefined: the letter's own. */
  readonly precision: number | undefined;
}

export function formatString(state: LuaState, check: Arguments, args: readonly LuaValue[]): string {
  const format = check.text(args, 0);
  let at = 0;
  let end = 0;
  let text = '';
  for (const match of format.matchAll(SPECIFICATION)) {
    const [whole, percent, flags = '', width = '', precision, letter = ''] = match;
    text += format.slice(end, match.index);
    end = match.index + whole.length;
    if (percent !== undefined) text += '%';
    else {
      at += 1;
      const specification = {
        flags,
        width: Number(width),
        precision: precision === undefined ? undefined : Number(precision),
      };
      const converted = convert(letter, specification, { state, check, args, at });
      if (converted === undefined) throw state.hostFailure(`invalid option '${whole}' to 'format'`);
      text += converted;
    }
    state.checkLength(text.length);
  }
  text += format.slice(end);
  state.charge(text.length);
  return text;
}

interface Source {
  readonly state: LuaState;
  readonly check: Arguments;
  readonly args: readonly LuaValue[];
  readonly at: number;
}

function convert(letter: string, specification: Specification, source: Source): string | undefined {
  const { check, args, at, state } = source;
  if (letter === '' || !'dicuoxXeEfgGaAsqp'.includes(letter)) return undefined;
  check.any(args, at);
  if (letter === 's') {
    const text = state.text(args[at]);
    return padded(text.slice(0, specification.precision), {
      ...specification,
      flags: withoutZero(specification),
    });
  }
  if (letter === 'q') return quoted(check.text(args, at));
  if (letter === 'c')
    return padded(String.fromCharCode(check.integer(args, at) & 0xff), specification);
  if (letter === 'p') return padded(state.text(args[at]).replace(/^.*: /, ''), specification);
  const number = check.number(args, at);
  if ('diuoxX'.includes(letter)) return integerText(letter, Math.trunc(number), specification);
  return floatText(letter, number, specification);
}

function withoutZero({ flags }: Specification): string {
  return flags.replaceAll('0', '');
}

function integerText(letter: string, value: number, specification: Specification): string {
  if (!Number.isFinite(value)) return floatText('g', value, specification);
  const isSigned = letter === 'd' || letter === 'i';
  const whole = BigInt(value);
  const amount = isSigned ? (whole < 0n ? -whole : whole) : BigInt.asUintN(64, whole);
  const base = letter === 'o' ? 8 : letter.toLowerCase() === 'x' ? 16 : 10;
  let digits = amount.toString(base);
  if (letter === 'X') digits = digits.toUpperCase();
  digits = digits.padStart(specification.precision ?? 1, '0');
  const prefix =
    specification.flags.includes('#') && base === 16 && value !== 0 ? `0${letter}` : '';
  const flags =
    specification.precision === undefined ? specification.flags : withoutZero(specification);
  return padded(
    digits,
    { ...specification, flags },
    signOf(isSigned && value < 0, specification) + prefix,
  );
}

function floatText(letter: string, value: number, specification: Specification): string {
  const sign = signOf(value < 0 || Object.is(value, -0), specification);
  const isUpper = letter !== letter.toLowerCase();
  if (!Number.isFinite(value)) {
    const word = Number.isNaN(value) ? 'nan' : 'inf';
    const flags = withoutZero(specification);
    return padded(
      isUpper ? word.toUpperCase() : word,
      { ...specification, flags },
      Number.isNaN(value) ? '' : sign,
    );
  }
  const text = magnitude(letter.toLowerCase(), Math.abs(value), specification);
  return padded(isUpper ? text.toUpperCase() : text, specification, sign);
}

function magnitude(letter: string, value: number, { precision, flags }: Specification): string {
  const digits = precision ?? PRECISION;
  if (letter === 'e') return formatExponential(value, digits);
  if (letter === 'g') return formatGeneral(value, digits, flags.includes('#'));
  if (letter === 'a') return hexText(value);
  if (value < FIXED_MAX) return value.toFixed(digits);
  return BigInt(value).toString() + (digits === 0 ? '' : `.${'0'.repeat(digits)}`);
}

function hexText(value: number): string {
  if (value === 0) return '0x0p+0';
  let exponent = Math.floor(Math.log2(value));
  let mantissa = value / 2 ** exponent;
  if (mantissa >= 2) [mantissa, exponent] = [mantissa / 2, exponent + 1];
  return `0x${mantissa.toString(16)}p${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}

function signOf(isNegative: boolean, { flags }: Specification): string {
  if (isNegative) return '-';
  if (flags.includes('+')) return '+';
  return flags.includes(' ') ? ' ' : '';
}

function padded(text: string, { flags, width }: Specification, sign = ''): string {
  if (flags.includes('-')) return (sign + text).padEnd(width);
  if (flags.includes('0')) return sign + text.padStart(width - sign.length, '0');
  return (sign + text).padStart(width);
}

function quoted(text: string): string {
  const inner = text.replace(/["\\\n\r\0]/g, (char) => {
    if (char === '\r') return '\\r';
    return char === '\0' ? '\\0' : `\\${char}`;
  });
  return `"${inner}"`;
}
