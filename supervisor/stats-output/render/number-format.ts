/** Numbers as Envoy's formats print them. */

/**
 * The shortest text that reads back as the same double, in fixed notation unless the scientific one
 * is shorter: 100000 is `1e+05`, 10000 is `10000`. The JSON page prints so.
 */
export function shortestNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  const fixed = String(value);
  const scientific = twoDigitExponent(value.toExponential());
  return scientific.length < fixed.length ? scientific : fixed;
}

/** At most six significant digits, scientific from 10^6 on: the `%g` of C. */
export function sixDigitNumber(value: number): string {
  if (value === 0) return '0';
  const exponent = Number(value.toExponential(5).split('e')[1]);
  if (exponent < -4 || exponent >= 6) {
    const [digits, power] = value.toExponential(5).split('e');
    return twoDigitExponent(`${withoutTrailingZeros(digits ?? '')}e${power ?? ''}`);
  }
  return withoutTrailingZeros(value.toFixed(5 - exponent));
}

/**
 * The exact value of a double to 32 significant digits: the `%.32g` of C, as Prometheus sums show.
 */
export function exactNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  // A double is an integer over a power of two; scaling both by ten makes the decimals exact.
  let scale = 0;
  let numerator = value;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    scale++;
  }
  // n / 2^scale = n * 5^scale / 10^scale
  const digits = (BigInt(numerator) * 5n ** BigInt(scale)).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return roundedTo32(whole, digits.slice(digits.length - scale));
}

function roundedTo32(whole: string, fraction: string): string {
  const significant =
    whole === '0' ? fraction.replace(/^0+/, '').length : whole.length + fraction.length;
  const excess = significant - 32;
  if (excess <= 0) return fraction === '' ? whole : withoutTrailingZeros(`${whole}.${fraction}`);
  const kept = fraction.length - excess;
  const all = BigInt(whole + fraction);
  const unit = 10n ** BigInt(excess);
  const rest = all % unit;
  let rounded = all / unit;
  // Half to even, as the C library rounds exact ties.
  if (rest * 2n > unit || (rest * 2n === unit && rounded % 2n === 1n)) rounded++;
  const text = rounded.toString().padStart(kept + 1, '0');
  return withoutTrailingZeros(
    `${text.slice(0, text.length - kept)}.${text.slice(text.length - kept)}`,
  );
}

function withoutTrailingZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** JavaScript's `1e+5` becomes `1e+05`. */
function twoDigitExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
