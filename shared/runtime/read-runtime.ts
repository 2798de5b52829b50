/** Readers of runtime values with Envoy's rules about kinds. */
import type { RuntimeFractionValue, RuntimeSnapshot } from '../resources/runtime.ts';

/** A feature flag: only a boolean counts. */
export function readBoolean(
  snapshot: RuntimeSnapshot,
  key: string,
  defaultValue: boolean,
): boolean {
  return snapshot.get(key)?.boolean ?? defaultValue;
}

/** A non-negative whole number. */
export function readInteger(snapshot: RuntimeSnapshot, key: string, defaultValue: number): number {
  const value = snapshot.get(key)?.number;
  return value !== undefined && Number.isInteger(value) && value >= 0 ? value : defaultValue;
}

/** A fraction, or a whole number, which is a percentage. */
export function readFraction(
  snapshot: RuntimeSnapshot,
  key: string,
  defaultValue: RuntimeFractionValue,
): RuntimeFractionValue {
  const value = snapshot.get(key);
  if (value?.fraction !== undefined) return value.fraction;
  const percent = value?.number;
  return percent !== undefined && Number.isInteger(percent) && percent >= 0
    ? { numerator: percent, denominator: 100 }
    : defaultValue;
}

/** Whether a draw from 0 to 1 (exclusive) falls into the fraction. */
export function isWithin(fraction: RuntimeFractionValue, draw: number): boolean {
  return Math.floor(draw * fraction.denominator) < fraction.numerator;
}

/** Any number. */
export function readDouble(snapshot: RuntimeSnapshot, key: string, defaultValue: number): number {
  return snapshot.get(key)?.number ?? defaultValue;
}
