/**
 * The room for new objects of a process at its start.
 *
 * The runtime collects when that room is full, so both functions fill it. Asking for a collection
 * by name needs a flag of V8; a process with that flag refuses the compiled code of the runtime's
 * own modules and starts 16 ms later.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Bytes of one step are eight times as many. */
const STEP_ELEMENTS = 8 * 1024;
/** 8 MiB: the room has 1 MiB at a start, and 16 at most. */
const MAX_STEPS = 128;
/** What V8 multiplies the room by when enough has survived in it. */
const WIDE_FACTOR = 8;
const USUAL_FACTOR = 2;

/**
 * Collects the objects that the start of a worker left behind before there are requests, of which
 * one of the first thirty would wait 1 to 2 ms for it.
 */
export function collectYoung(): void {
  const filler = emptyStep();
  let used = newSpace().used;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    // Runs once, so that no compiler finds out that nobody reads the copy.
    filler.slice();
    const now = newSpace().used;
    if (now < used) break;
    used = now;
  }
}

/**
 * Makes the room eight times as large at once, where V8 would double it step by step. A start then
 * collects half as often. V8 also takes each collection that leaves little behind as a sign that
 * old objects need one soon: after the usual number it began one of 10 to 15 ms of CPU just when a
 * server was live and its first requests came. Costs 6 MiB until the first collection of old
 * objects, some seconds later, makes the room small again.
 */
export function widenYoungRoom(): void {
  // The first collection commits the second half of the room, which grows with one of the next.
  const unwidened = 2 * newSpace().size;
  setFlagsFromString(`--semi-space-growth-factor=${WIDE_FACTOR}`);
  const filler = emptyStep();
  const kept: number[][] = [];
  for (let step = 0; step < MAX_STEPS && newSpace().size <= unwidened; step += 1) {
    kept.push(filler.slice());
  }
  // With the flags of every other process, so that compiled code is taken as theirs is.
  setFlagsFromString(`--semi-space-growth-factor=${USUAL_FACTOR}`);
}

function emptyStep(): number[] {
  return Array.from<number>({ length: STEP_ELEMENTS }).fill(0);
}

function newSpace(): { readonly size: number; readonly used: number } {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return { size: space?.space_size ?? 0, used: space?.space_used_size ?? 0 };
}
