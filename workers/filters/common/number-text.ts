/** Numbers and base64 in texts from outside, read as Envoy reads them. */

const HEX_DIGITS_KEPT = 32;
/** Above it in either direction a number is 0 or infinite whatever its digits are. */
const POWER_MAX = 100_000;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const HEX = /^([+-]?)0x([\da-f]*)(?:\.([\da-f]*))?(?:p([+-]?\d+))?$/i;
const INFINITE = /^[+-]?inf(?:inity)?$/i;
const NO_NUMBER = /^[+-]?nan(?:\([\da-z_]*\))?$/i;

/** Decimal or hexadecimal, with a fraction or an exponent, infinite or NaN; undefined otherwise. */
export function parseDouble(text: string): number | undefined {
  const bare = text.replace(/^[ \t\n\v\f\r]+/, '').replace(/[ \t\n\v\f\r]+$/, '');
  if (DECIMAL.test(bare)) return Number(bare);
  if (INFINITE.test(bare)) return bare.startsWith('-') ? -Infinity : Infinity;
  if (NO_NUMBER.test(bare)) return NaN;
  const [, sign, whole = '', fraction = '', exponent = '0'] = HEX.exec(bare) ?? [];
  if (whole + fraction === '') return undefined;
  const size = hexSize(whole + fraction, Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

/** `digits` times two to the power of `exponent`. */
function hexSize(digits: string, exponent: number): number {
  const significant = digits.replace(/^0+/, '');
  if (significant === '') return 0;
  const kept = significant.slice(0, HEX_DIGITS_KEPT);
  const wanted = exponent + 4 * (significant.length - kept.length);
  const power = Math.max(-POWER_MAX, Math.min(wanted, POWER_MAX));
  // In two steps: the power alone may be too small for a number while the product is not.
  const half = Math.trunc(power / 2);
  return Number(`0x${kept}`) * 2 ** half * 2 ** (power - half);
}

const BASE64 = /^([A-Za-z\d+/]+)={0,2}$/;

/** With or without padding; undefined for everything else, for what decodes to nothing too. */
export function decodeBase64(text: string): Buffer | undefined {
  const [, digits] = BASE64.exec(text) ?? [];
  if (digits === undefined || digits.length % 4 === 1) return undefined;
  const bytes = Buffer.from(digits, 'base64');
  // Bits behind the last byte are 0.
  const again = bytes.toString('base64');
  return again.startsWith(digits) ? bytes : undefined;
}
