/** The operators of CEL on numbers, times and texts. What overflows is an error. */
import {
  CelBytes,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelUint,
  NO_OVERLOAD,
  type CelValue,
} from './values.ts';

const OVERFLOW = new CelFailure('integer overflow');
const BY_ZERO = new CelFailure('divide by zero');

export function checkedInt(value: bigint): CelValue {
  return BigInt.asIntN(64, value) === value ? value : OVERFLOW;
}

export function checkedUint(value: bigint): CelValue {
  return BigInt.asUintN(64, value) === value ? new CelUint(value) : OVERFLOW;
}

export type Arithmetic = '_+_' | '_-_' | '_*_' | '_/_' | '_%_';

export function calculate(operator: Arithmetic, one: CelValue, other: CelValue): CelValue {
  if (typeof one === 'bigint' && typeof other === 'bigint') {
    return whole(operator, one, other, checkedInt);
  }
  if (typeof one === 'number' && typeof other === 'number') return fraction(operator, one, other);
  if (one instanceof CelUint && other instanceof CelUint) {
    return whole(operator, one.value, other.value, checkedUint);
  }
  if (operator === '_+_') return addTimes(one, other);
  return operator === '_-_' ? subtractTimes(one, other) : NO_OVERLOAD;
}

function whole(
  operator: Arithmetic,
  one: bigint,
  other: bigint,
  check: (value: bigint) => CelValue,
): CelValue {
  switch (operator) {
    case '_+_':
      return check(one + other);
    case '_-_':
      return check(one - other);
    case '_*_':
      return check(one * other);
    case '_/_':
      return other === 0n ? BY_ZERO : check(one / other);
    case '_%_':
      return other === 0n ? BY_ZERO : check(one % other);
  }
}

function fraction(operator: Arithmetic, one: number, other: number): CelValue {
  switch (operator) {
    case '_+_':
      return one + other;
    case '_-_':
      return one - other;
    case '_*_':
      return one * other;
    case '_/_':
      return one / other;
    case '_%_':
      return NO_OVERLOAD;
  }
}

function addTimes(one: CelValue, other: CelValue): CelValue {
  if (one instanceof CelDuration) {
    if (other instanceof CelDuration) return new CelDuration(one.ns + other.ns);
    return other instanceof CelTimestamp ? new CelTimestamp(one.ns + other.ns) : NO_OVERLOAD;
  }
  const isMoment = one instanceof CelTimestamp && other instanceof CelDuration;
  return isMoment ? new CelTimestamp(one.ns + other.ns) : NO_OVERLOAD;
}

function subtractTimes(one: CelValue, other: CelValue): CelValue {
  if (one instanceof CelDuration && other instanceof CelDuration) {
    return new CelDuration(one.ns - other.ns);
  }
  if (!(one instanceof CelTimestamp)) return NO_OVERLOAD;
  if (other instanceof CelDuration) return new CelTimestamp(one.ns - other.ns);
  return other instanceof CelTimestamp ? new CelDuration(one.ns - other.ns) : NO_OVERLOAD;
}

export function negate(value: CelValue): CelValue {
  if (typeof value === 'bigint') return checkedInt(-value);
  return typeof value === 'number' ? -value : NO_OVERLOAD;
}

/** The `+` of texts, where a configuration has switched it on. */
export function concat(one: CelValue, other: CelValue): CelValue {
  if (typeof one === 'string' && typeof other === 'string') return joined(one, other) ?? TOO_LONG;
  if (one instanceof CelBytes && other instanceof CelBytes) {
    const text = joined(one.text, other.text);
    return text === undefined ? TOO_LONG : new CelBytes(text);
  }
  return calculate('_+_', one, other);
}

/** Bytes of a text that an expression makes. */
export const CEL_STRING_MAX = 1024 * 1024;
export const TOO_LONG = new CelFailure('text too long');

function joined(one: string, other: string): string | undefined {
  return one.length + other.length > CEL_STRING_MAX ? undefined : one + other;
}
