/**
 * Whose turn it is, by deadline: the earliest is first and moves back after each turn. Things that
 * move back by the same time stay in their order, so each such time has a queue that needs no
 * sorting, and a turn among ten thousand costs what one among ten does. Where times differ too much
 * it is a heap.
 */
import { DeadlineHeap } from './deadline-heap.ts';

/** Looked through with each turn. Hosts have few weights, and a few requests open each. */
const LANES_MAX = 32;
const NONE = -1;

export class TurnSchedule {
  /** By position. */
  readonly #deadlines: Float64Array;
  /** By position: who comes behind in the same lane. */
  readonly #next: Int32Array;
  /**
   * By lane: how far its members move back, its first and last member, and the first one's
   * deadline.
   */
  readonly #delays = new Float64Array(LANES_MAX);
  readonly #heads = new Int32Array(LANES_MAX).fill(NONE);
  readonly #tails = new Int32Array(LANES_MAX);
  readonly #earliest = new Float64Array(LANES_MAX).fill(Number.POSITIVE_INFINITY);
  #lanes = 0;
  #lane = 0;
  #heap: DeadlineHeap | undefined = undefined;

  /** A deadline for each position, none below 0. */
  constructor(deadlines: readonly number[]) {
    this.#deadlines = Float64Array.from(deadlines);
    this.#next = new Int32Array(deadlines.length).fill(NONE);
    for (const [position, deadline] of deadlines.entries()) {
      if (this.#heap === undefined) this.#append(position, deadline);
    }
    this.#choose();
  }

  /** The position whose turn it is; -1 without any. */
  get first(): number {
    return this.#heap === undefined ? (this.#heads[this.#lane] as number) : this.#heap.first;
  }

  /** The first one's turn is over; its next comes `by` later, which is not below 0. */
  delayFirst(by: number): void {
    if (this.#heap !== undefined) {
      this.#heap.delayFirst(by);
      return;
    }
    const lane = this.#lane;
    const position = this.#heads[lane] as number;
    if (position === NONE) return;
    const following = this.#next[position] as number;
    this.#heads[lane] = following;
    this.#earliest[lane] =
      following === NONE ? Number.POSITIVE_INFINITY : (this.#deadlines[following] as number);
    (this.#deadlines[position] as number) += by;
    this.#append(position, by);
    this.#choose();
  }

  #append(position: number, by: number): void {
    const lane = this.#laneOf(by);
    if (lane === NONE) {
      this.#heap = new DeadlineHeap([...this.#deadlines]);
      return;
    }
    this.#next[position] = NONE;
    if (this.#heads[lane] === NONE) {
      this.#heads[lane] = position;
      this.#earliest[lane] = this.#deadlines[position] as number;
    } else {
      this.#next[this.#tails[lane] as number] = position;
    }
    this.#tails[lane] = position;
  }

  /** Most members come back to where they were. */
  #laneOf(by: number): number {
    if (this.#delays[this.#lane] === by && this.#lane < this.#lanes) return this.#lane;
    let empty = NONE;
    for (let lane = 0; lane < this.#lanes; lane++) {
      if (this.#delays[lane] === by) return lane;
      if (this.#heads[lane] === NONE) empty = lane;
    }
    const lane = empty === NONE && this.#lanes < LANES_MAX ? this.#lanes++ : empty;
    if (lane !== NONE) this.#delays[lane] = by;
    return lane;
  }

  #choose(): void {
    let least = 0;
    let deadline = this.#earliest[0] as number;
    for (let lane = 1; lane < this.#lanes; lane++) {
      const other = this.#earliest[lane] as number;
      if (other < deadline) {
        deadline = other;
        least = lane;
      }
    }
    this.#lane = this.#heads[least] === NONE ? this.#anyLane() : least;
  }

  /** A lane of those whose turn never comes. */
  #anyLane(): number {
    return Math.max(
      0,
      this.#heads.findIndex((position) => position !== NONE),
    );
  }
}
