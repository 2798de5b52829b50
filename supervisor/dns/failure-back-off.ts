/** How long to wait after a name could not be looked up, where a back-off is configured. */
import type { DnsSettings } from '../resolved/resolved-bootstrap.ts';

const DOUBLINGS_MAX = 30;

/** Any time up to a bound that doubles with each failure in a row; the first counts as 1. */
export function failureBackOffMs(
  { baseMs, maxMs }: NonNullable<DnsSettings['failure']>,
  failuresInARow: number,
  random: () => number,
): number {
  const doublings = Math.min(DOUBLINGS_MAX, failuresInARow - 1);
  const boundMs = Math.min(maxMs, baseMs * 2 ** doublings);
  return Math.max(1, Math.floor(random() * boundMs));
}
