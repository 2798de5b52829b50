/**
 * A deterministic automaton over a program, made as texts need it. A state is the set of the
 * `set` nodes that took the last byte (forwards), or that lead to a match with the next one
 * (backwards), and what stands beside the place. The same steps run both ways: backwards the
 * graph is turned round, and `match` changes places with `start`.
 *
 * The tables have a limit. When they are full they are forgotten, unless too few bytes were read
 * since the last time: then this text's states are computed one after the other and not kept,
 * as RE2 continues with its NFA.
 */
import { returnMemory, takeMemory, type Releasable } from './memory.ts';
import { conditionsBetween, OP, type Edges, type Program } from './program.ts';

/** Entries of the tables below 1: nothing more can match, it has matched, not computed yet. */
export const DEAD = 0;
export const GOAL = -1;
export const UNKNOWN = -2;
/** In a state's context: the goal was reached right behind the place. */
export const MARK = 4;

/** What the tables of one automaton may take. */
const DFA_BYTES = 5 * 1024 * 1024;
/** Full tables are forgotten when they served at least so many bytes for each state. */
const BYTES_PER_STATE = 10;
/** What a state takes beside its numbers. */
const STATE_OVERHEAD = 200;
const FIRST_STATES = 8;

export interface DfaKind {
  readonly backward: boolean;
  /** Whether a match may begin (backwards: end) at every place, or only at the first. */
  readonly everywhere: boolean;
  /** Where it is told that the goal was reached: at the text's end alone, at once, or by a mark. */
  readonly goal: 'at_end' | 'stops' | 'marks';
}

export class LazyDfa implements Releasable {
  readonly #program: Program;
  readonly #kind: DfaKind;
  readonly #edges: Edges;
  readonly #seed: number;
  readonly #goal: number;
  readonly #limitBytes: number;
  /** A row has a column for each column of bytes, and one for the text's end. */
  readonly #shift: number;
  /** Numbers of nodes in ascending order, by state. */
  #kernels: Int32Array[] = [];
  #contexts: number[] = [];
  #numbers = new Map<string, number>();
  #bytes = 0;
  /** Bytes read since the tables were last empty. */
  #read = 0;
  /** The state whose row stays empty: the set in it changes with every byte. */
  #passing = 0;
  #generation = 1;

  /** Successors: `table[state + column]`; states are numbers of the first cell of their row. */
  table = new Int32Array(0);

  constructor(program: Program, kind: DfaKind, limitBytes = DFA_BYTES) {
    this.#program = program;
    this.#kind = kind;
    this.#edges = kind.backward ? program.backward : program.forward;
    this.#seed = kind.backward ? program.match : program.start;
    this.#goal = kind.backward ? program.start : program.match;
    this.#limitBytes = limitBytes;
    this.#shift = 32 - Math.clz32(program.columnCount);
  }

  release(): void {
    returnMemory(this);
    this.table = new Int32Array(0);
    this.#kernels = [];
    this.#contexts = [];
    this.#numbers = new Map();
    this.#bytes = 0;
    this.#read = 0;
    this.#passing = 0;
    this.#generation += 1;
  }

  /** The state at a place whose neighbour on the side that was read is `context`. */
  start(context: number): number {
    return this.stateOf(Int32Array.of(this.#seed), context);
  }

  /** The state with such a set, which may come from another automaton of the same direction. */
  stateOf(kernel: Int32Array, context: number): number {
    const known = this.#numbers.get(keyOf(kernel, context));
    if (known !== undefined) return known;
    return this.#add(kernel, context) ?? this.#pass(kernel, context);
  }

  /**
   * Counts how often the tables were forgotten: states of different generations cannot be compared.
   */
  get generation(): number {
    return this.#generation;
  }

  /** Whether the state will be the same set as long as the generation lasts. */
  keeps(state: number): boolean {
    return state !== this.#passing;
  }

  kernelOf(state: number): Int32Array {
    return this.#kernels[state >> this.#shift] ?? EMPTY;
  }

  contextOf(state: number): number {
    return this.#contexts[state >> this.#shift] ?? 0;
  }

  /** Tells that a text was read, so that tables that serve well may be made again. */
  countBytes(count: number): void {
    this.#read += count;
  }

  /** The successor that is not in the table: a state, DEAD or GOAL. */
  step(state: number, column: number): number {
    const { columnCount, contexts, edge } = this.#program;
    const next = column === columnCount ? edge : (contexts[column] ?? 0);
    if (state === this.#passing) this.#read += 1;
    const end = this.#spreadFrom(state, column, next);
    if (end !== undefined) return this.#remember(state, column, end);
    const kernel = sorted(found);
    const context = this.#kind.goal === 'marks' && reachesGoal ? next | MARK : next;
    const known = this.#numbers.get(keyOf(kernel, context));
    if (known !== undefined) return this.#remember(state, column, known);
    const hadTable = this.#kernels;
    const added = this.#add(kernel, context);
    if (added === undefined) return this.#pass(kernel, context);
    // The row may have been forgotten to make place.
    return hadTable === this.#kernels ? this.#remember(state, column, added) : added;
  }

  #remember(state: number, column: number, target: number): number {
    if (state !== this.#passing) this.table[state + column] = target;
    return target;
  }

  /** Leaves the set behind one byte in `found`, or returns DEAD or GOAL. */
  #spreadFrom(state: number, column: number, next: number): number | undefined {
    const { backward, everywhere, goal } = this.#kind;
    const context = this.contextOf(state) & ~MARK;
    const isEnd = column === this.#program.columnCount;
    this.#spread(
      this.kernelOf(state),
      backward ? conditionsBetween(next, context) : conditionsBetween(context, next),
      isEnd ? -1 : column,
    );
    if (reachesGoal && (isEnd || goal === 'stops')) return GOAL;
    if (isEnd) return DEAD;
    if (everywhere) found.push(this.#seed);
    if (found.length > 0) return undefined;
    return reachesGoal && goal === 'marks' ? GOAL : DEAD;
  }

  /** Collects in `found` which nodes take the byte, and whether the goal was reached before it. */
  #spread(kernel: Int32Array, conditions: number, column: number): void {
    const { ops, args, members, columnCount } = this.#program;
    const { first, to } = this.#edges;
    const stamp = newStamp(ops.length);
    reachesGoal = false;
    found.length = 0;
    for (const leaf of kernel) expand(leaf, first, to);
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (stamps[node] === stamp) continue;
      stamps[node] = stamp;
      const op = ops[node];
      if (node === this.#goal) reachesGoal = true;
      else if (op === OP.set) {
        const isIn = column >= 0 && members[(args[node] ?? 0) * columnCount + column] === 1;
        if (isIn) found.push(node);
      } else if (op !== OP.empty || ((args[node] ?? 0) & ~conditions) === 0) {
        expand(node, first, to);
      }
    }
  }

  /** Undefined when there is no place, and too little was read to forget the tables for it. */
  #add(kernel: Int32Array, context: number): number | undefined {
    const cost = (4 << this.#shift) + 8 * kernel.length + STATE_OVERHEAD;
    const states = this.#kernels.length;
    if (states > 2 && this.#bytes + cost > this.#limitBytes) {
      if (this.#read < states * BYTES_PER_STATE) return undefined;
      this.release();
    }
    if (this.#kernels.length === 0) this.#makeFirstRows();
    takeMemory(this, cost);
    this.#bytes += cost;
    const state = this.#kernels.length << this.#shift;
    this.#reserve(state);
    this.#kernels.push(kernel);
    this.#contexts.push(context);
    this.#numbers.set(keyOf(kernel, context), state);
    return state;
  }

  /** Row 0 stands for DEAD and row 1 for what passes without being kept. */
  #makeFirstRows(): void {
    this.table = new Int32Array(FIRST_STATES << this.#shift).fill(UNKNOWN);
    this.#kernels = [EMPTY, EMPTY];
    this.#contexts = [0, 0];
    this.#passing = 1 << this.#shift;
  }

  #reserve(state: number): void {
    if (state + (1 << this.#shift) <= this.table.length) return;
    const larger = new Int32Array(this.table.length * 2).fill(UNKNOWN);
    larger.set(this.table);
    this.table = larger;
  }

  #pass(kernel: Int32Array, context: number): number {
    this.#kernels[1] = kernel;
    this.#contexts[1] = context;
    return this.#passing;
  }
}

const EMPTY = new Int32Array(0);

// Scratch of one step, for all automata: a step never begins within another.
const pending: number[] = [];
const found: number[] = [];
let reachesGoal = false;
let stamps = new Int32Array(64);
let lastStamp = 0;

function newStamp(nodes: number): number {
  if (stamps.length < nodes || lastStamp === 0x7fffffff) {
    stamps = new Int32Array(Math.max(nodes, stamps.length));
    lastStamp = 0;
  }
  lastStamp += 1;
  return lastStamp;
}

function expand(node: number, first: Int32Array, to: Int32Array): void {
  const end = first[node + 1] ?? 0;
  for (let at = first[node] ?? 0; at < end; at++) pending.push(to[at] ?? 0);
}

/** Few numbers are the rule: sorting them by insertion is cheaper than the built-in way. */
const FEW = 24;

function sorted(nodes: readonly number[]): Int32Array {
  const kernel = Int32Array.from(nodes);
  if (kernel.length > FEW) return kernel.sort();
  for (let end = 1; end < kernel.length; end++) {
    const node = kernel[end] ?? 0;
    let at = end;
    for (; at > 0 && (kernel[at - 1] ?? 0) > node; at--) kernel[at] = kernel[at - 1] ?? 0;
    kernel[at] = node;
  }
  return kernel;
}

function keyOf(kernel: Int32Array, context: number): string {
  if (kernel.length < FEW) {
    let key = String.fromCharCode(context);
    for (const node of kernel) key += String.fromCharCode(node & 0xffff, node >> 16);
    return key;
  }
  const bytes = Buffer.from(kernel.buffer, kernel.byteOffset, kernel.byteLength);
  return String.fromCharCode(context) + bytes.toString('latin1');
}
