/** Waiting for a condition or an event with a limit. Tests wait on what happens, never on time. */
import { setTimeout as delay } from 'node:timers/promises';

/** Longer than anything takes on a machine that has much else to do; only what fails waits for it. */
export const WAIT_LIMIT_MS = 30_000;
/** A probe that never rests would take the time of what it waits for. */
const PROBE_PERIOD_MS = 2;

class WaitTimeout extends Error {}

/** Resolves with the first value that is neither undefined nor false; rejects after `limitMs`. */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new WaitTimeout(`not seen in ${limitMs} ms: ${what}`);
    await delay(PROBE_PERIOD_MS);
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
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
