/**
 * Walks one match along a track and notes where its groups begin and end. Of all ways from a
 * node the first one that leads to a match is taken, which is the one that RE2 prefers.
 */
import { OP, type Program } from './program.ts';
import type { Track } from './track.ts';

/** Cells of the memory of searches. */
const CELLS = 256;
const NO_SLOTS: readonly number[] = [];

export class Walker {
  readonly #program: Program;
  readonly #track: Track;
  readonly #seen: Int32Array;
  #stamp = 0;
  #generation = 0;
  /**
   * Nodes still to try; a slot that has to be put back is -1 - slot, one more than its value below
   * it.
   */
  readonly #pending: number[] = [];
  /** Whether the last search depended on what stands beside the place. */
  #askedPlace = false;
  /**
   * Searches that were made: from which node in which state, what was chosen, which slots were set.
   */
  readonly #froms = new Int32Array(CELLS).fill(-1);
  readonly #states = new Int32Array(CELLS);
  readonly #choices = new Int32Array(CELLS);
  readonly #slotLists: (readonly number[])[] = [];
  /** Begin and end of the match and of each group; -1 where a group took no part. */
  readonly slots: Int32Array;

  constructor(program: Program, track: Track) {
    this.#program = program;
    this.#track = track;
    this.#seen = new Int32Array(program.ops.length);
    this.slots = new Int32Array(2 * program.captures + 2);
  }

  /** A match begins at the place. */
  walk(start: number): void {
    const { match, forward } = this.#program;
    this.slots.fill(-1);
    this.slots[0] = start;
    let node = this.#program.start;
    let place = start;
    for (; node !== match; place++) {
      node = this.#choose(forward.to[forward.first[node] ?? 0] ?? 0, place);
      if (node === match) break;
    }
    this.slots[1] = place;
  }

  /** The first node in order of preference that leads to a match and takes the next byte. */
  #choose(from: number, place: number): number {
    if (this.#program.ops[from] === OP.set) return from;
    const state = this.#track.stateAt(place);
    if (state === 0) return this.#search(from, place);
    if (this.#generation !== this.#track.generation) {
      this.#generation = this.#track.generation;
      this.#froms.fill(-1);
    }
    const cell = (Math.imul(from, 0x9e3779b1) + state) & (CELLS - 1);
    if (this.#froms[cell] === from && this.#states[cell] === state) {
      for (const slot of this.#slotLists[cell] ?? NO_SLOTS) this.slots[slot] = place;
      return this.#choices[cell] ?? 0;
    }
    const choice = this.#search(from, place);
    if (this.#askedPlace) return choice;
    this.#froms[cell] = from;
    this.#states[cell] = state;
    this.#choices[cell] = choice;
    this.#slotLists[cell] = this.#passedSlots();
    return choice;
  }

  /** The slots that the search left set, from what it would have put back. */
  #passedSlots(): readonly number[] {
    return this.#pending.filter((node) => node < 0).map((node) => -1 - node);
  }

  #search(from: number, place: number): number {
    const { ops } = this.#program;
    const kernel = this.#track.kernelAt(place);
    this.#askedPlace = false;
    const pending = this.#pending;
    const stamp = this.#nextStamp();
    pending.length = 0;
    pending.push(from);
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (node < 0) {
        this.slots[-1 - node] = (pending.pop() ?? 0) - 1;
        continue;
      }
      if (this.#seen[node] === stamp) continue;
      this.#seen[node] = stamp;
      const op = ops[node];
      if (op === OP.set || op === OP.match) {
        if (has(kernel, node)) return node;
      } else {
        this.#follow(node, place);
      }
    }
    throw new Error('a regular expression lost its match');
  }

  #follow(node: number, place: number): void {
    const { ops, args, forward } = this.#program;
    const pending = this.#pending;
    if (ops[node] === OP.empty) {
      this.#askedPlace = true;
      if (!this.#track.holds(args[node] ?? 0, place)) return;
    }
    if (ops[node] === OP.capture) {
      const slot = args[node] ?? 0;
      pending.push((this.slots[slot] ?? -1) + 1, -1 - slot);
      this.slots[slot] = place;
    }
    const lowest = forward.first[node] ?? 0;
    for (let at = (forward.first[node + 1] ?? 0) - 1; at >= lowest; at--) {
      pending.push(forward.to[at] ?? 0);
    }
  }

  #nextStamp(): number {
    if (this.#stamp === 0x7fffffff) {
      this.#seen.fill(0);
      this.#stamp = 0;
    }
    this.#stamp += 1;
    return this.#stamp;
  }
}

/** Sets up to this size are searched from the front. */
const FEW = 8;

function has(kernel: Int32Array, node: number): boolean {
  let low = 0;
  let high = kernel.length;
  if (high <= FEW) return kernel.includes(node);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kernel[middle] ?? 0) < node) low = middle + 1;
    else high = middle;
  }
  return kernel[low] === node;
}
