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
  /** What follows each node that takes a byte. */
  readonly #successors: Int32Array;
  /** Where the walk is. */
  #place = 0;
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
    const { first, to } = program.forward;
    this.#successors = this.#seen.map((_, node) => to[first[node] ?? 0] ?? 0);
    this.slots = new Int32Array(2 * program.captures + 2);
  }

  /** A match begins at the place. */
  walk(start: number): void {
    const { match } = this.#program;
    this.slots.fill(-1);
    this.slots[0] = start;
    let node = this.#program.start;
    this.#place = start;
    while (node !== match) {
      node = this.#repeat(node);
      if (node === match) break;
      node = this.#choose(this.#successors[node] ?? 0, this.#place);
      if (node !== match) this.#place++;
    }
    this.slots[1] = this.#place;
  }

  /** Goes on from the node in the block at hand, as long as it is remembered what is chosen. */
  #repeat(from: number): number {
    const { match, ops } = this.#program;
    const { states, lowest, end } = this.#track.blockOf(this.#place);
    if (this.#generation !== this.#track.generation) return from;
    const successors = this.#successors;
    // Read here and not in `#cellOf`: this runs for every byte of a match.
    const [froms, cellStates, choices] = [this.#froms, this.#states, this.#choices];
    const slotLists = this.#slotLists;
    let node = from;
    let place = this.#place;
    for (; place < end && node !== match; place++) {
      const next = successors[node] ?? 0;
      if (ops[next] === OP.set) {
        node = next;
        continue;
      }
      const state = states[place - lowest] ?? 0;
      const cell = placeOf(next, state);
      // State 0 is in no cell.
      if (froms[cell] !== next || cellStates[cell] !== state) break;
      const before = node;
      node = choices[cell] ?? 0;
      if (slotLists[cell] !== NO_SLOTS) this.#setSlots(cell, place);
      if (node === match) break;
      // The same is chosen as long as the state lasts.
      if (node === before && slotLists[cell] === NO_SLOTS) {
        place = endOfRun(states, place - lowest, end - lowest) + lowest;
      }
    }
    this.#place = place;
    return node;
  }

  /** What is remembered of a node in a state, or -1. */
  #cellOf(from: number, state: number): number {
    const cell = placeOf(from, state);
    const isKnown = this.#froms[cell] === from && this.#states[cell] === state;
    return isKnown && state !== 0 ? cell : -1;
  }

  /** Makes the remembered choice. */
  #take(cell: number, place: number): number {
    this.#setSlots(cell, place);
    return this.#choices[cell] ?? 0;
  }

  #setSlots(cell: number, place: number): void {
    for (const slot of this.#slotLists[cell] ?? NO_SLOTS) this.slots[slot] = place;
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
    const known = this.#cellOf(from, state);
    if (known >= 0) return this.#take(known, place);
    const choice = this.#search(from, place);
    if (this.#askedPlace) return choice;
    const cell = placeOf(from, state);
    this.#froms[cell] = from;
    this.#states[cell] = state;
    this.#choices[cell] = choice;
    this.#slotLists[cell] = this.#passedSlots();
    return choice;
  }

  /** The slots that the search left set, from what it would have put back. */
  #passedSlots(): readonly number[] {
    const passed = this.#pending.filter((node) => node < 0).map((node) => -1 - node);
    return passed.length === 0 ? NO_SLOTS : passed;
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

function placeOf(from: number, state: number): number {
  return (Math.imul(from, 0x9e3779b1) + state) & (CELLS - 1);
}

/** The last index before the end up to which the state is the one of this index. */
function endOfRun(states: Int32Array, index: number, end: number): number {
  const state = states[index];
  let last = index;
  while (last + 1 < end && states[last + 1] === state) last++;
  return last;
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
