/**
 * V8's regular expression engine that runs in linear time. It is only asked whether it could take
 * a pattern; matching uses the ordinary engine, and V8 changes over by itself when a match
 * backtracks too much.
 */
import { setFlagsFromString } from 'node:v8';

/** Exists only while the engine is allowed. */
const LINEAR: string = 'l';

let isAllowed = false;

/** Must be called before the first pattern of a configuration is made; later calls do nothing. */
export function allowLinearEngine(): void {
  if (isAllowed) return;
  isAllowed = true;
  setFlagsFromString('--enable-experimental-regexp-engine');
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
}

/** Whether V8 can promise linear time for a pattern, alone and within anchors. */
export function isLinearInV8(source: string): boolean {
  try {
    return new RegExp(`^(?:${source})$`, LINEAR).flags.includes(LINEAR);
  } catch {
    return false;
  }
}
