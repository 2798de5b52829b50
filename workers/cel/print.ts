/** Values of CEL as `%CEL()%` prints them, after Envoy. */
import { dictionary } from '../../shared/text/dictionary.ts';
import type { JsonValue } from '../../shared/substitution/value.ts';
import {
  CelBytes,
  CelDuration,
  CelTimestamp,
  CelType,
  CelUint,
  isList,
  isMap,
  type CelValue,
} from './values.ts';

export function celText(value: CelValue): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return doubleText(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return objectText(value);
  }
}

function objectText(value: CelValue): string {
  if (value === null) return 'NULL';
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof CelBytes) return value.text;
  if (value instanceof CelDuration) return durationText(value.ns);
  if (value instanceof CelTimestamp) return timestampText(value.ns);
  if (value instanceof CelType) return 'CelType value';
  if (isList(value)) return 'CelList value';
  return isMap(value) && value.text !== undefined ? value.text() : 'CelMap value';
}

/** The same as JSON, whose types it keeps; undefined for what JSON cannot say. */
export function celJson(value: CelValue): JsonValue | undefined {
  switch (typeof value) {
    case 'bigint':
      return Number(value);
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    default:
      return objectJson(value);
  }
}

function objectJson(value: CelValue): JsonValue | undefined {
  if (value === null) return null;
  if (value instanceof CelUint) return Number(value.value);
  if (value instanceof CelBytes) return Buffer.from(value.text, 'latin1').toString('base64');
  if (value instanceof CelDuration) return `${decimal(value.ns, SECOND)}s`;
  if (value instanceof CelTimestamp) return timestampText(value.ns).replace('+00:00', 'Z');
  if (isList(value)) return value.map((item) => celJson(item) ?? null);
  if (!isMap(value)) return undefined;
  return dictionary(
    value.keys().map((key) => [celText(key), celJson(value.get(key) ?? null) ?? null]),
  );
}

const DIGITS = 6;

/** Six digits, as `%g` of C. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = value.toExponential(DIGITS - 1).split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < DIGITS) {
    return withoutZeros(value.toFixed(DIGITS - 1 - exponent));
  }
  const sign = exponent < 0 ? '-' : '+';
  return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const SECOND = 1_000_000_000n;

/** As Go and Abseil write durations: `1h30m`, `1.5s`, `20ms`. */
function durationText(ns: bigint): string {
  if (ns === 0n) return '0';
  const sign = ns < 0n ? '-' : '';
  const size = ns < 0n ? -ns : ns;
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 1000n)}us`;
  if (size < SECOND) return `${sign}${decimal(size, 1_000_000n)}ms`;
  const hours = size / (3600n * SECOND);
  const minutes = (size / (60n * SECOND)) % 60n;
  const seconds = size % (60n * SECOND);
  const parts = [
    hours === 0n ? '' : `${hours}h`,
    minutes === 0n ? '' : `${minutes}m`,
    seconds === 0n ? '' : `${decimal(seconds, SECOND)}s`,
  ];
  return sign + parts.join('');
}

function decimal(value: bigint, unit: bigint): string {
  const rest = String(value % unit).padStart(String(unit).length - 1, '0');
  return withoutZeros(`${value / unit}.${rest}`);
}

/** RFC 3339 in UTC with as many digits of the second as there are. */
function timestampText(ns: bigint): string {
  const rest = ((ns % SECOND) + SECOND) % SECOND;
  const date = new Date(Number((ns - rest) / 1_000_000n));
  if (Number.isNaN(date.getTime())) return 'infinite-future';
  const fraction = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
  return `${date.toISOString().slice(0, -5)}${fraction}+00:00`;
}
