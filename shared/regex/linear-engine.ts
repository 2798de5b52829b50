/**
 * V8's regular expression engine that runs in linear time. Matching uses the
 * ordinary engine, and V8 changes over by itself when a match backtracks too much.
 */
import { setFlagsFromString } from 'node:v8';

let isAllowed = false;

/** Must be called before the first pattern of a configuration is made; later calls do nothing. */
export function allowLinearEngine(): void {
  if (isAllowed) return;
  isAllowed = true;
  setFlagsFromString('--enable-experimental-regexp-engine');
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
}
