/**
 * Shares the supervisor's loop with work that takes long: the pages of the admin interface and what
 * they are made from. Such work is written as steps, a generator whose every step is short, and
 * goes on only while its turn lasts. Turns are limited by time, and one piece of work at most has a
 * turn in each iteration of the loop: connections, timers and signals wait for one turn, however
 * much is asked for.
 */
import { systemClock, type Clock } from '../../shared/process/clock.ts';

/** A turn. What waits behind it waits that long, and one step longer. */
const TURN_MS = 4;

/** Work with a result; what it yields is the caller's, or only a place to pause at. */
export type Steps<Result, Piece = unknown> = Generator<Piece, Result, undefined>;

/** Runs steps that are known to be few. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export class LoopTurns {
  readonly #clock: Clock;
  /** When the present turn ends; it is over for later work. */
  #endMs = Number.NEGATIVE_INFINITY;
  /** In the order in which they get their turns. */
  readonly #waiting = new Set<() => void>();
  #isScheduled = false;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Whether the present turn is used up: long work has to wait for `next`. */
  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#endMs;
  }

  /** Resolves at the beginning of a turn. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.add(resolve);
      this.#schedule();
    });
  }

  /** Runs steps to their end. */
  async run<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      if (this.isOver) await this.next();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const [begin] = this.#waiting;
      if (begin === undefined) return;
      this.#waiting.delete(begin);
      if (this.#waiting.size > 0) this.#schedule();
      this.#endMs = this.#clock.monotonicMs() + TURN_MS;
      begin();
    });
  }
}

/** Members that are sorted or merged in one step. */
const SORTED_PER_STEP = 1024;

/** `list.sort(compare)` in steps; the list itself is left as it is. */
export function* sortedInSteps<T>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<'', readonly T[], undefined> {
  if (list.length <= SORTED_PER_STEP) return list.toSorted(compare);
  let runs: (readonly T[])[] = [];
  for (let start = 0; start < list.length; start += SORTED_PER_STEP) {
    runs.push(list.slice(start, start + SORTED_PER_STEP).sort(compare));
    yield '';
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let position = 0; position < runs.length; position += 2) {
      const [left = [], right] = runs.slice(position, position + 2);
      merged.push(right === undefined ? left : yield* mergedInSteps(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSteps<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<'', readonly T[], undefined> {
  const merged: T[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length || fromRight < right.length) {
    const takesLeft =
      fromRight >= right.length ||
      (fromLeft < left.length && compare(left[fromLeft] as T, right[fromRight] as T) <= 0);
    merged.push((takesLeft ? left[fromLeft++] : right[fromRight++]) as T);
    if (merged.length % SORTED_PER_STEP === 0) yield '';
  }
  return merged;
}
