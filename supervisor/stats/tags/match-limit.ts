/**
 * Ends work of the loop that runs expressions of unknown cost. The runtime looks for such an end
 * while it backtracks, so that no expression can hold the loop for longer.
 */
import { Script } from 'node:vm';

/** By the wall: the thread that waits for it knows no other time. */
const LIMIT_MS = 10;
const TIMEOUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** Scripts reach functions of modules only by a global name. */
const CALL = Symbol.for('sluice.stats.limited-match');
const script = new Script(`globalThis[Symbol.for('${CALL.description}')]()`);
const place = globalThis as unknown as { [CALL]?: (() => void) | undefined };

/**
 * False when the work was ended; it must be such that it may end anywhere. Costs some 70 µs, so
 * that it is worth while to do much in one call.
 */
export function runLimited(work: () => void): boolean {
  place[CALL] = work;
  try {
    script.runInThisContext({ timeout: LIMIT_MS });
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === TIMEOUT) return false;
    throw error;
  } finally {
    place[CALL] = undefined;
  }
}
