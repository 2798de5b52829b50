/** Six significant digits, as C's %g prints them: 1234567 is 1.23457e+06. */
export function sixDigits(value: number): string {
  const rounded = value.toExponential(5).split('e');
  const exponent = Number(rounded[1]);
  if (value === 0) return '0';
  if (exponent >= -4 && exponent < 6) return String(Number(value.toPrecision(6)));
  const mantissa = String(Number(rounded[0]));
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}
