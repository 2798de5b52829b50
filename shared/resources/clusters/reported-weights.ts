/**
 * Weights of hosts that follow from what they report of their load: when one counts, and what a
 * host has that reports nothing. The same for who balances by them and for who shows them.
 */
import type { LoadReportOptions } from './lb-policy.ts';

/** What is known of one host. Monotonic milliseconds of the process that keeps it. */
export interface ReportedWeight {
  readonly weight: number;
  /** Since when there are reports without a gap, and the last of them. */
  readonly sinceMs: number;
  readonly lastMs: number;
}

/** Undefined: there is none yet, or none any more. */
export function weightAt(
  { weight, sinceMs, lastMs }: ReportedWeight,
  { blackoutMs, expirationMs }: Pick<LoadReportOptions, 'blackoutMs' | 'expirationMs'>,
  nowMs: number,
): number | undefined {
  if (nowMs - lastMs >= expirationMs || nowMs - sinceMs < blackoutMs) return undefined;
  return weight;
}

/**
 * For hosts without a weight of their own, the median of the others'; without any, all are alike.
 */
export function medianOf(weights: readonly (number | undefined)[]): number {
  const known = weights.filter((weight) => weight !== undefined).toSorted((a, b) => a - b);
  const middle = known.length >> 1;
  const upper = known[middle] ?? 1;
  const isEven = known.length > 0 && known.length % 2 === 0;
  return isEven ? Math.floor(((known[middle - 1] ?? upper) + upper) / 2) : upper;
}
