/**
 * Work that would hold up a loop for too long, cut into steps: a few of them run in each turn, so
 * that what traffic brings in between waits a moment at most. Knows nothing of what the work is.
 */
import type { SliceTurns } from './slice-turns.ts';

/** Yields where it may be interrupted; a step takes a fraction of a millisecond. */
export type Steps<Result = void> = Generator<undefined, Result, undefined>;

/** Items of a list that may be handled within one step, where each takes about a microsecond. */
export const ITEMS_PER_STEP = 256;

/** More than that is never done at once, but for what a request waits for: a few milliseconds. */
const AT_ONCE_STEPS = 256;

/** Takes all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Takes all steps in slices; what one of them throws is what comes out. */
export async function runInSlices<Result>(
  { slices }: { readonly slices: SliceTurns },
  steps: Steps<Result>,
): Promise<Result> {
  return await new Promise((resolve, reject) => {
    slices.add(() => {
      try {
        const step = steps.next();
        if (step.done === true) resolve(step.value);
        return step.done === true;
      } catch (error) {
        reject(error);
        return true;
      }
    });
  });
}

/**
 * How much of a piece is done before `add` returns: nothing, what takes a few milliseconds, or all
 * of it and of what came before. What is left is done in slices.
 */
export type Haste = 'later' | 'soon' | 'now';

const STEPS_AT_ONCE: Readonly<Record<Haste, number>> = {
  later: 0,
  soon: AT_ONCE_STEPS,
  now: Number.POSITIVE_INFINITY,
};

/** Pieces of work one after the other: each begins when the one before it has ended. */
export class SlicedWork {
  readonly #turns: SliceTurns;
  readonly #waiting: (() => Steps)[] = [];
  #current: Steps | undefined;
  #settled: Promise<void> | undefined;
  #settle: (() => void) | undefined;
  #isClosed = false;

  constructor({ slices }: { readonly slices: SliceTurns }) {
    this.#turns = slices;
  }

  /** Resolves when nothing is left to do; undefined: nothing is. */
  get settled(): Promise<void> | undefined {
    return this.#settled;
  }

  add(haste: Haste, makeSteps: () => Steps): void {
    if (this.#isClosed) return;
    this.#waiting.push(makeSteps);
    let steps = haste === 'soon' && this.#settled !== undefined ? 0 : STEPS_AT_ONCE[haste];
    for (; steps > 0; steps--) if (this.#step()) return this.#end();
    if (this.#settled === undefined) this.#begin();
  }

  /** What has not been done is given up. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#current = undefined;
    this.#end();
  }

  #begin(): void {
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#turns.add(() => {
      const hasEnded = this.#step();
      if (hasEnded) this.#end();
      return hasEnded;
    });
  }

  /** Returns whether nothing is left. */
  #step(): boolean {
    this.#current ??= this.#waiting.shift()?.();
    if (this.#current === undefined) return true;
    if (this.#current.next().done === true) this.#current = undefined;
    return this.#current === undefined && this.#waiting.length === 0;
  }

  #end(): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#settled = undefined;
    settle?.();
  }
}

/**
 * Sorts in place as `Array.sort` does: what is equal keeps its order, what is sorted costs little.
 */
export function* sortInSteps<Item>(
  items: Item[],
  compare: (left: Item, right: Item) => number,
): Steps {
  for (let from = 0; from < items.length; from += ITEMS_PER_STEP) {
    const run = items.slice(from, from + ITEMS_PER_STEP).sort(compare);
    for (let at = 0; at < run.length; at++) items[from + at] = run[at] as Item;
    yield;
  }
  for (let width = ITEMS_PER_STEP; width < items.length; width *= 2) {
    for (let from = 0; from + width < items.length; from += 2 * width) {
      yield* merge(items, { from, middle: from + width }, compare);
    }
  }
}

/** Joins two sorted runs, the later of which is as long as the earlier one at most. */
function* merge<Item>(
  items: Item[],
  { from, middle }: { readonly from: number; readonly middle: number },
  compare: (left: Item, right: Item) => number,
): Steps {
  const end = Math.min(2 * middle - from, items.length);
  if (compare(items[middle - 1] as Item, items[middle] as Item) <= 0) return;
  const left = items.slice(from, middle);
  let [at, right] = [0, middle];
  for (let to = from; at < left.length; to++) {
    const isLeft = right >= end || compare(left[at] as Item, items[right] as Item) <= 0;
    items[to] = isLeft ? (left[at++] as Item) : (items[right++] as Item);
    if (to % ITEMS_PER_STEP === 0) yield;
  }
}
