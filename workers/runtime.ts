/**
 * What the data path asks of the runtime: values that an operator may change while Sluice runs,
 * each with the configured default.
 */
import type { RuntimeFraction } from '../shared/resources/matchers.ts';

export interface Runtime {
  /** The key's current value, or undefined when no layer sets it. */
  integer(key: string): number | undefined;
  /** Random numbers from 0 to 2^32 - 1. */
  random(): number;
}

/** No layer sets anything: the configured defaults hold. */
export const defaultRuntime: Runtime = {
  integer: () => undefined,
  random: () => Math.floor(Math.random() * 0x1_0000_0000),
};

/** Whether a share of requests takes this one in; a runtime value counts in percent, as in the reference. */
export function isEnabled(
  { runtimeKey, numerator, denominator }: RuntimeFraction,
  runtime: Runtime,
  random: number,
): boolean {
  const percent = runtimeKey === undefined ? undefined : runtime.integer(runtimeKey);
  if (percent !== undefined) return random % 100 < percent;
  return random % denominator < numerator;
}
