/**
 * How a file that lines are appended to is opened, so that opening never waits for a reader of a
 * pipe.
 */
import { constants, statSync } from 'node:fs';

export function appendFlags(path: string): number {
  const { O_APPEND, O_CREAT, O_NOCTTY, O_NONBLOCK, O_RDWR, O_WRONLY } = constants;
  return isFifo(path) ? O_RDWR | O_NONBLOCK | O_APPEND : O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY;
}

function isFifo(path: string): boolean {
  try {
    return statSync(path).isFIFO();
  } catch {
    // Opening it says why.
    return false;
  }
}
