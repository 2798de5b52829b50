const DAY_MS = 24 * 60 * 60 * 1000;

/** Whole days; 0 for a certificate that has expired. */
export function daysUntil(expiresMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((expiresMs - nowMs) / DAY_MS));
}
