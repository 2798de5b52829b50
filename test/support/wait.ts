/** Waiting for a condition or an event with a limit. Tests wait on what happens, never on time. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Longer than anything takes on a machine that has much else to do; only what fails waits for it.
 */
export const WAIT_LIMIT_MS = 30_000;
/**
 * A probe that never rests would take the time of what it waits for. One rests for a twentieth of
 * what has passed already, within these bounds.
 */
const MIN_REST_MS = 2;
const MAX_REST_MS = 20;

class WaitTimeout extends Error {}

/** Resolves with the first value that is neither undefined nor false; rejects after `limitMs`. */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const beginMs = performance.now();
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    const passedMs = performance.now() - beginMs;
    if (passedMs > limitMs) throw new WaitTimeout(`not seen in ${limitMs} ms: ${what}`);
    await delay(Math.min(Math.max(MIN_REST_MS, passedMs / 20), MAX_REST_MS));
  }
}

/** Rejects when `promise` has not settled within `limitMs`. */
export async function within<T>(
  what: string,
  promise: Promise<T>,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new WaitTimeout(`not seen in ${limitMs} ms: ${what}`)),
      limitMs,
    );
    // The loser of a race is waited for by nobody: it must not keep the process.
    timer.unref();
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
