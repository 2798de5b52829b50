/** Timeouts that connections do not all reach at the same moment: each draws a time of its own. */
import type { LoopTimer, TimerList } from '../loop/timers.ts';

/** Lists of timers per timeout: as fine as its jitter is drawn. */
const JITTER_STEPS = 64;

export type ArmedTimeout = Pick<TimerList, 'arm'>;

/** `listOf` gives the timers of one length; undefined: none. The share is that of `delayMs`. */
export function withJitter(
  delayMs: number,
  share: number,
  listOf: (delayMs: number) => TimerList | undefined,
): ArmedTimeout | undefined {
  const shortest = listOf(delayMs);
  if (shortest === undefined || share <= 0) return shortest;
  const lists = Array.from({ length: JITTER_STEPS }, (_, step) =>
    listOf(Math.ceil(delayMs * (1 + (share * (step + 1)) / JITTER_STEPS))),
  );
  return {
    arm(timer: LoopTimer): void {
      const drawn = lists[Math.floor(Math.random() * JITTER_STEPS)] ?? shortest;
      drawn.arm(timer);
    },
  };
}
