/**
 * The only file that touches wall time, the monotonic clock and timers.
 *
 * Everything else takes a `Clock`, so that tests replace time instead of waiting for it. Times that
 * cross a process boundary are CLOCK_MONOTONIC nanoseconds (one clock for all processes on Linux);
 * wall time is for output only.
 */

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** CLOCK_MONOTONIC in nanoseconds, comparable between processes of this machine. */
  monotonicNs(): bigint;
  /** CLOCK_MONOTONIC in milliseconds with a fraction; the cheap form for the data path. */
  monotonicMs(): number;
  /** Wall time in Unix milliseconds. For output only: it may jump. */
  wallMs(): number;
  /** Calls `callback` once after `delayMs`. An `unref` timer does not keep the process alive. */
  after(delayMs: number, callback: () => void, options?: { unref?: boolean }): Timer;
  /** Calls `callback` every `periodMs` until cancelled. */
  every(periodMs: number, callback: () => void, options?: { unref?: boolean }): Timer;
}

// performance.now() counts from the start of this process; this offset turns it into
// CLOCK_MONOTONIC.
const monotonicOffsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** How long this process has run. */
export function processAgeMs(): number {
  return Math.round(process.uptime() * 1_000);
}

/** The runtime lets timers that are longer run out at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemClock: Clock = {
  monotonicNs: () => process.hrtime.bigint(),
  monotonicMs: () => performance.now() + monotonicOffsetMs,
  wallMs: () => Date.now(),
  after(delayMs, callback, options) {
    let handle: NodeJS.Timeout;
    const arm = (restMs: number): void => {
      const partMs = Math.min(restMs, LONGEST_TIMER_MS);
      handle = setTimeout(partMs < restMs ? () => arm(restMs - partMs) : callback, partMs);
      if (options?.unref === true) handle.unref();
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
  every(periodMs, callback, options) {
    if (periodMs > LONGEST_TIMER_MS) return everyLong(periodMs, callback, options);
    const handle = setInterval(callback, periodMs);
    if (options?.unref === true) handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
};

function everyLong(
  periodMs: number,
  callback: () => void,
  options: { unref?: boolean } | undefined,
): Timer {
  let timer: Timer;
  const arm = (): void => {
    timer = systemClock.after(
      periodMs,
      () => {
        arm();
        callback();
      },
      options,
    );
  };
  arm();
  return { cancel: () => timer.cancel() };
}
