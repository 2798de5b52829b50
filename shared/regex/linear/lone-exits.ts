/**
 * States of an automaton that one byte alone leaves, or none: until it comes nothing happens, and
 * the runtime finds a byte much faster than a table is read. RE2 looks for the first byte of a
 * literal in the same way.
 */
import { UNKNOWN, type LazyDfa } from './lazy-dfa.ts';
import type { Program } from './program.ts';

/** States that are remembered. */
const PLACES = 16;
/** Columns of a program for which it pays to look at a whole row. */
const COLUMNS_MAX = 64;
/** A column of several bytes, or no one byte of a state. */
const SEVERAL = -1;
/** Nothing but the text's end leaves the state. */
const NEVER = -2;

export class LoneExits {
  readonly #dfa: LazyDfa;
  readonly #columnCount: number;
  /** The only byte of each column. */
  readonly #byteOf: Int16Array;
  readonly #states = new Int32Array(PLACES).fill(-1);
  readonly #exits = new Int16Array(PLACES);
  #generation = 0;

  constructor(program: Program, dfa: LazyDfa) {
    this.#dfa = dfa;
    this.#columnCount = program.columnCount;
    this.#byteOf = new Int16Array(program.columnCount).fill(NEVER);
    program.columns.forEach((column, byte) => {
      this.#byteOf[column] = this.#byteOf[column] === NEVER ? byte : SEVERAL;
    });
  }

  /** The first place of the text from here on where the state may be left; or its end. */
  skip(state: number, text: Uint8Array, place: number): number {
    const exit = this.#exitOf(state);
    if (exit === SEVERAL) return place;
    const found = exit === NEVER ? -1 : text.indexOf(exit, place);
    return found < 0 ? text.length : found;
  }

  #exitOf(state: number): number {
    const dfa = this.#dfa;
    if (this.#columnCount > COLUMNS_MAX || !dfa.keeps(state)) return SEVERAL;
    if (this.#generation !== dfa.generation) {
      this.#generation = dfa.generation;
      this.#states.fill(-1);
    }
    const place = (state ^ (state >> 4) ^ (state >> 8)) & (PLACES - 1);
    if (this.#states[place] === state) return this.#exits[place] ?? SEVERAL;
    const exit = this.#look(state);
    // Looking may have filled the tables, and forgotten them.
    if (this.#generation !== dfa.generation) return SEVERAL;
    this.#states[place] = state;
    this.#exits[place] = exit;
    return exit;
  }

  #look(state: number): number {
    const dfa = this.#dfa;
    let exit = NEVER;
    for (let column = 0; column < this.#columnCount; column++) {
      let next = dfa.table[state + column] ?? UNKNOWN;
      if (next === UNKNOWN) next = dfa.step(state, column);
      if (this.#generation !== dfa.generation) return SEVERAL;
      if (next === state) continue;
      if (exit !== NEVER) return SEVERAL;
      exit = this.#byteOf[column] ?? SEVERAL;
      if (exit < 0) return SEVERAL;
    }
    return exit;
  }
}
