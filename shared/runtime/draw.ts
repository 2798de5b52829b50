/** Whether a share of requests takes in one of them. */
import type { RuntimeFraction } from '../resources/routes/matchers.ts';
import type { RuntimeSnapshot } from '../resources/runtime.ts';
import { readFraction } from './read-runtime.ts';

/** Whether the share takes in the request with this random number, from 0 to 2^32 - 1. */
export function isDrawn(
  fraction: RuntimeFraction,
  snapshot: RuntimeSnapshot,
  random: number,
): boolean {
  const { runtimeKey } = fraction;
  const { numerator, denominator } =
    runtimeKey === undefined ? fraction : readFraction(snapshot, runtimeKey, fraction);
  return random % denominator < numerator;
}

/**
 * The first eight hexadecimal digits of a UUID as a number: drawing by it, every proxy on a
 * request's way decides alike. Undefined where they are none.
 */
export function numberOfRequestId(requestId: string): number | undefined {
  const digits = requestId.slice(0, 8);
  return /^[0-9a-f]{8}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined;
}
