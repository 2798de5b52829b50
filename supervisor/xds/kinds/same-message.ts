/** Whether two normalised messages say the same, whatever the order of their fields. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Steps } from '../../loop/loop-turns.ts';

/** Messages within a message that are compared in one step. */
const MESSAGES_PER_STEP = 128;
/** Routes of a route configuration stand this deep. */
const DEEPEST = 4;

export function isSameMessage(left: JsonObject, right: JsonObject): boolean {
  return isDeepStrictEqual(left, right);
}

/** As `isSameMessage`, for messages with long lists. */
export function isSameInSteps(left: JsonObject, right: JsonObject): Steps<boolean> {
  return isSame(left, right, { compared: 0, depth: 0 });
}

interface Progress {
  compared: number;
  depth: number;
}

function* isSame(left: unknown, right: unknown, progress: Progress): Steps<boolean> {
  if (left === right) return true;
  if (progress.depth === DEEPEST || !isObject(left) || !isObject(right)) {
    if (++progress.compared % MESSAGES_PER_STEP === 0) yield;
    return isDeepStrictEqual(left, right);
  }
  const keys = Object.keys(left);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (keys.length !== Object.keys(right).length) return false;
  progress.depth++;
  for (const key of keys) {
    if (!Object.hasOwn(right, key)) return false;
    if (!(yield* isSame(left[key], right[key], progress))) return false;
  }
  progress.depth--;
  return true;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}
