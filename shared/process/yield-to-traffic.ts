/** Threads whose work may wait. */
import { setPriority } from 'node:os';

/** About a third of a core's time for each thread that competes, instead of half. */
const NICENESS = 5;

/**
 * Traffic comes first where there are not enough cores; lowered once, this thread stays so. Linux
 * alone has priorities of single threads: elsewhere this would be the whole process.
 */
export function yieldToTraffic(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // A sandbox may forbid it; the work is done all the same.
  }
}
