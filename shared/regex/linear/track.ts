/**
 * What a backward automaton saw in a text: at each place, which nodes lead to a match from there.
 * With it the match that RE2 prefers is found by walking forwards once, always taking the first
 * way that leads to a match (after Frisch and Cardelli): nothing is tried in vain. Long texts
 * are kept in blocks: first only what stands at their ends, then the block that is walked in.
 */
import { GOAL, MARK, UNKNOWN, type LazyDfa } from './lazy-dfa.ts';
import { conditionsBetween, type Program } from './program.ts';

/** Places of a block, fewer where a program is so large that its sets would take more than this. */
const BLOCK_PLACES = 64 * 1024;
const BLOCK_BYTES = 16 * 1024 * 1024;
const LEAST_PLACES = 64;
/** Places for which memory is kept for the next text. */
const KEPT_PLACES = 4096;

interface Checkpoint {
  readonly kernel: Int32Array;
  readonly context: number;
}

/** States from the lowest place to the one before the end; none where they are not kept. */
interface Block {
  readonly states: Int32Array;
  readonly lowest: number;
  readonly end: number;
}

export class Track {
  readonly #program: Program;
  readonly #dfa: LazyDfa;
  readonly #places: number;
  #bytes: Uint8Array = NO_BYTES;
  #first = 0;
  #last = 0;
  #length = 0;
  /** At the upper end of each block. */
  #checkpoints: Checkpoint[] = [];
  /** The block at hand: its lowest place, and whether it is of another reading. */
  #lowest = 0;
  #isStale = true;
  #generation = 0;
  /** Kernels of states that the automaton does not keep, or of all. */
  readonly #kernels: Int32Array[] = [];
  #hasAllKernels = false;
  /** States of the automaton, 0 where it does not keep them. */
  #states = new Int32Array(0);
  /** Whether a match begins at the place, where no state below it says so. */
  #starts = new Uint8Array(0);

  constructor(program: Program, dfa: LazyDfa) {
    this.#program = program;
    this.#dfa = dfa;
    const fitting = Math.floor(BLOCK_BYTES / (4 * program.ops.length));
    this.#places = Math.min(BLOCK_PLACES, Math.max(LEAST_PLACES, fitting));
  }

  /** Reads the bytes from `last` back to `first`; the text is `length` long. */
  read(bytes: Uint8Array, length: number, first: number, last: number): void {
    this.#bytes = bytes;
    this.#length = length;
    this.#first = first;
    this.#last = last;
    this.#isStale = true;
    this.#checkpoints = [];
    let state = this.#dfa.start(this.#contextOf(last));
    const blocks = Math.floor((last - first) / this.#places);
    let place = last;
    for (let block = blocks; block >= 0; block--) {
      this.#checkpoints[block] = {
        kernel: this.#dfa.kernelOf(state),
        context: this.#dfa.contextOf(state),
      };
      const lowest = first + block * this.#places;
      if (block > 0) state = this.#skip(state, place, lowest);
      place = lowest;
    }
    this.#dfa.countBytes(last - first);
  }

  /** Forgets the text and what it held. */
  clear(): void {
    this.#bytes = NO_BYTES;
    this.#checkpoints = [];
    this.#kernels.length = 0;
    if (this.#starts.length <= KEPT_PLACES) return;
    this.#starts = new Uint8Array(0);
    this.#states = new Int32Array(0);
  }

  /** The first place from here where a match begins, or -1. */
  nextStart(from: number): number {
    for (let place = from; place <= this.#last;) {
      const lowest = this.#enter(place);
      const end = Math.min(lowest + this.#places, this.#last + 1);
      const found = this.#startIn(place - lowest, end - lowest);
      if (found >= 0) return lowest + found;
      place = end;
    }
    return -1;
  }

  /** The first index of the block at hand where a match begins, or -1. */
  #startIn(from: number, end: number): number {
    const isCurrent = this.#generation === this.#dfa.generation;
    if (!isCurrent && !this.#hasAllKernels) this.#load(this.#lowest, true);
    const [states, starts] = [this.#states, this.#starts];
    if (this.#hasAllKernels) return starts.subarray(0, end).indexOf(1, from);
    let last = 0;
    for (let index = from; index < end; index++) {
      const before = index === 0 ? 0 : (states[index - 1] ?? 0);
      if (before === 0) {
        if (starts[index] === 1) return index;
      } else if (before !== last) {
        if (beginsBefore(this.#dfa, before) === 1) return index;
        last = before;
      }
    }
    return -1;
  }

  /** The nodes that lead to a match from the place, in ascending order. */
  kernelAt(place: number): Int32Array {
    const state = this.stateAt(place);
    if (state !== 0) return this.#dfa.kernelOf(state);
    if (this.#generation !== this.#dfa.generation && !this.#hasAllKernels) {
      this.#load(this.#lowest, true);
    }
    return this.#kernels[place - this.#lowest] ?? NONE;
  }

  /** The states of the block of the place, valid until another one is asked for. */
  blockOf(place: number): Block {
    const lowest = this.#enter(place);
    const end = Math.min(lowest + this.#places, this.#last + 1);
    return { states: this.#generation === this.#dfa.generation ? this.#states : NONE, lowest, end };
  }

  /** Whether the conditions of an `empty` node hold at the place. */
  holds(conditions: number, place: number): boolean {
    const before = place === 0 ? this.#program.edge : this.#contextOf(place - 1);
    return (conditions & ~conditionsBetween(before, this.#contextOf(place))) === 0;
  }

  /** What stands behind the place. */
  #contextOf(place: number): number {
    const { contexts, columns, edge } = this.#program;
    if (place === this.#length) return edge;
    return contexts[columns[this.#bytes[place] ?? 0] ?? 0] ?? 0;
  }

  /** The state at the place; 0 when it has none that lasts. */
  stateAt(place: number): number {
    const lowest = this.#enter(place);
    return this.#generation === this.#dfa.generation ? (this.#states[place - lowest] ?? 0) : 0;
  }

  /** States of another generation are others. */
  get generation(): number {
    return this.#dfa.generation;
  }

  #skip(from: number, place: number, lowest: number): number {
    const { columns } = this.#program;
    const bytes = this.#bytes;
    const dfa = this.#dfa;
    let { table } = dfa;
    let state = from;
    for (let at = place - 1; at >= lowest; at--) {
      const column = columns[bytes[at] ?? 0] ?? 0;
      let next = table[state + column] ?? UNKNOWN;
      if (next === UNKNOWN) {
        next = dfa.step(state, column);
        table = dfa.table;
      }
      state = next;
    }
    return state;
  }

  /** Makes sure that the block of the place is at hand; returns its lowest place. */
  #enter(place: number): number {
    if (place < this.#lowest || place >= this.#lowest + this.#places || this.#isStale) {
      const block = Math.floor((place - this.#first) / this.#places);
      this.#lowest = this.#first + block * this.#places;
      this.#isStale = false;
      this.#load(this.#lowest, false);
      // States were forgotten, and with them what they stood for.
      if (this.#generation !== this.#dfa.generation) this.#load(this.#lowest, true);
    }
    return this.#lowest;
  }

  #load(lowest: number, keepsKernels: boolean): void {
    const { columns } = this.#program;
    const bytes = this.#bytes;
    const dfa = this.#dfa;
    const block = Math.floor((lowest - this.#first) / this.#places);
    const { kernel, context } = this.#checkpoints[block] ?? { kernel: NONE, context: 0 };
    const highest = Math.min(lowest + this.#places, this.#last);
    this.#reserve(highest - lowest + 1);
    let state = dfa.stateOf(kernel, context);
    this.#generation = dfa.generation;
    this.#hasAllKernels = keepsKernels;
    const [states, starts] = [this.#states, this.#starts];
    let { table } = dfa;
    for (let at = highest; at > lowest; at--) {
      const isKept = dfa.keeps(state);
      if (keepsKernels || !isKept) this.#kernels[at - lowest] = dfa.kernelOf(state);
      states[at - lowest] = isKept ? state : 0;
      const column = columns[bytes[at - 1] ?? 0] ?? 0;
      let next = table[state + column] ?? UNKNOWN;
      if (next === UNKNOWN) {
        next = dfa.step(state, column);
        table = dfa.table;
      }
      state = next;
      if (keepsKernels || !dfa.keeps(next)) starts[at - lowest] = beginsBefore(dfa, next);
    }
    this.#kernels[0] = dfa.kernelOf(state);
    states[0] = dfa.keeps(state) ? state : 0;
    starts[0] = this.#beginsAt(lowest, state) ? 1 : 0;
  }

  #reserve(places: number): void {
    if (this.#starts.length >= places) return;
    this.#starts = new Uint8Array(Math.max(64, places));
    this.#states = new Int32Array(Math.max(64, places));
  }

  /** Whether a match begins at the place, which has this state. */
  #beginsAt(place: number, state: number): boolean {
    const { columns, columnCount } = this.#program;
    const dfa = this.#dfa;
    const column = place === 0 ? columnCount : (columns[this.#bytes[place - 1] ?? 0] ?? 0);
    let before = dfa.table[state + column] ?? UNKNOWN;
    if (before === UNKNOWN) before = dfa.step(state, column);
    return before === GOAL || (dfa.contextOf(before) & MARK) !== 0;
  }
}

/** 1 where a match begins behind the byte that brought this state. */
function beginsBefore(dfa: LazyDfa, state: number): number {
  return (dfa.contextOf(state) & MARK) === 0 ? 0 : 1;
}

const NONE = new Int32Array(0);
const NO_BYTES = new Uint8Array(0);
