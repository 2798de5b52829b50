/**
 * A schedule of things that take turns by deadline: the earliest is first and moves back after each
 * turn. Knows them by their position in the caller's list; its arrays are flat, so that a turn
 * among many thousands touches little memory.
 */

export class DeadlineHeap {
  /** A binary heap. */
  readonly #deadlines: Float64Array;
  /** Whose deadline that is. */
  readonly #positions: Uint32Array;

  /** A deadline for each position. */
  constructor(deadlines: readonly number[]) {
    const order = orderOf(deadlines);
    this.#positions = order;
    this.#deadlines = Float64Array.from(order, (position) => deadlines[position] ?? 0);
  }

  /** The position whose turn it is; -1 without any. */
  get first(): number {
    return this.#positions[0] ?? -1;
  }

  /** The first one's turn is over; its next comes `by` later. */
  delayFirst(by: number): void {
    const deadlines = this.#deadlines;
    const positions = this.#positions;
    const count = deadlines.length;
    if (count === 0) return;
    const deadline = (deadlines[0] ?? 0) + by;
    const position = positions[0] ?? 0;
    let at = 0;
    for (let least = 1; least < count; least = 2 * at + 1) {
      const right = least + 1;
      if (right < count && (deadlines[right] ?? 0) < (deadlines[least] ?? 0)) least = right;
      const below = deadlines[least] ?? 0;
      if (below >= deadline) break;
      deadlines[at] = below;
      positions[at] = positions[least] ?? 0;
      at = least;
    }
    deadlines[at] = deadline;
    positions[at] = position;
  }
}

/**
 * Positions by deadline, equals as they come. Most hosts share a few weights: these are sorted
 * alone.
 */
function orderOf(deadlines: readonly number[]): Uint32Array {
  const byDeadline = new Map<number, number[]>();
  for (const [position, deadline] of deadlines.entries()) {
    const equals = byDeadline.get(deadline);
    if (equals === undefined) byDeadline.set(deadline, [position]);
    else equals.push(position);
  }
  const order = new Uint32Array(deadlines.length);
  let at = 0;
  for (const deadline of Float64Array.from(byDeadline.keys()).sort()) {
    const equals = byDeadline.get(deadline) ?? [];
    order.set(equals, at);
    at += equals.length;
  }
  return order;
}
