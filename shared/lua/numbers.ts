/** Numbers to and from text, as LuaJIT has them. */

const HEX = /^0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?\d+))?$/;
const BINARY = /^0[bB]([01]+)$/;
const DECIMAL = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPACES = /^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g;
const SIGNIFICANT_DIGITS = 14;
/** What a text of a number may have: longer ones are none. */
const NUMBER_LENGTH_MAX = 1024;

/** Undefined where the text is no number. */
export function parseNumber(text: string): number | undefined {
  if (text.length > NUMBER_LENGTH_MAX) return undefined;
  const trimmed = text.replace(SPACES, '');
  const isNegative = trimmed.startsWith('-');
  const digits = isNegative || trimmed.startsWith('+') ? trimmed.slice(1) : trimmed;
  const value = parseUnsigned(digits);
  return value !== undefined && isNegative ? -value : value;
}

function parseUnsigned(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const lower = text.toLowerCase();
  if (lower === 'inf' || lower === 'infinity') return Infinity;
  if (lower === 'nan') return NaN;
  const binary = BINARY.exec(text)?.[1];
  if (binary !== undefined) return Number.parseInt(binary, 2);
  const hex = HEX.exec(text);
  if (hex === null || `${hex[1]}${hex[2] ?? ''}` === '') return undefined;
  const fraction = hex[2] ?? '';
  const mantissa = Number.parseInt(`${hex[1]}${fraction}`, 16);
  return mantissa * 2 ** (Number(hex[3] ?? 0) - 4 * fraction.length);
}

/** As `%.14g` prints it. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value) && value < 1e14 && value > -1e14) {
    return value === 0 && Object.is(value, -0) ? '-0' : String(value);
  }
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return formatGeneral(value, SIGNIFICANT_DIGITS, false);
}

/** As `%g` of C prints it; `keepsZeros`: with the flag `#`. */
export function formatGeneral(value: number, precision: number, keepsZeros: boolean): string {
  const digits = Math.max(1, precision);
  const scientific = value.toExponential(digits - 1);
  const at = scientific.indexOf('e');
  const exponent = Number(scientific.slice(at + 1));
  if (exponent < -4 || exponent >= digits) {
    const mantissa = scientific.slice(0, at);
    return (keepsZeros ? mantissa : dropZeros(mantissa)) + exponentText(exponent);
  }
  const fixed = value.toFixed(Math.max(0, digits - 1 - exponent));
  return keepsZeros ? fixed : dropZeros(fixed);
}

/** As `%e` of C prints it. */
export function formatExponential(value: number, precision: number): string {
  const text = value.toExponential(precision);
  const at = text.indexOf('e');
  return text.slice(0, at) + exponentText(Number(text.slice(at + 1)));
}

function exponentText(exponent: number): string {
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `e${exponent < 0 ? '-' : '+'}${digits}`;
}

function dropZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
