/** Reads what a script gives to a function of the host; errors are LuaJIT's. */
import { isFunction, typeName } from '../call-state.ts';
import { LuaTable } from '../lua-table.ts';
import { type LuaState, numberOf, textOf } from '../lua-state.ts';
import type { LuaValue } from '../values.ts';

/** Shorter strings cost next to nothing when they are read. */
const SHORT_STRING_BYTES = 64 * 1024;

type Values = readonly LuaValue[];

export class Arguments {
  readonly #state: LuaState;

  constructor(state: LuaState) {
    this.#state = state;
  }

  text(args: Values, at: number): string {
    const text = textOf(args[at]);
    if (text === undefined) throw this.wrong(args, at, 'string');
    if (text.length > SHORT_STRING_BYTES) {
      this.#state.charge(text.length >> 2);
      this.#state.spend(text.length >> 6);
    }
    return text;
  }

  optionalText(args: Values, at: number, byDefault: string): string {
    return args[at] === undefined ? byDefault : this.text(args, at);
  }

  number(args: Values, at: number): number {
    const number = numberOf(args[at]);
    if (number === undefined) throw this.wrong(args, at, 'number');
    return number;
  }

  optionalNumber(args: Values, at: number, byDefault: number): number {
    return args[at] === undefined ? byDefault : this.number(args, at);
  }

  /** Without its fraction. */
  integer(args: Values, at: number): number {
    return Math.trunc(this.number(args, at)) || 0;
  }

  optionalInteger(args: Values, at: number, byDefault: number): number {
    return args[at] === undefined ? byDefault : this.integer(args, at);
  }

  table(args: Values, at: number): LuaTable {
    const value = args[at];
    if (!(value instanceof LuaTable)) throw this.wrong(args, at, 'table');
    return value;
  }

  boolean(args: Values, at: number): boolean {
    const value = args[at];
    if (typeof value !== 'boolean') throw this.wrong(args, at, 'boolean');
    return value;
  }

  callable(args: Values, at: number): LuaValue {
    const value = args[at];
    if (!isFunction(value)) throw this.wrong(args, at, 'function');
    return value;
  }

  any(args: Values, at: number): LuaValue {
    if (at >= args.length) throw this.#state.argumentFailure(at + 1, 'value expected');
    return args[at];
  }

  wrong(args: Values, at: number, expected: string): Error {
    const got = at >= args.length ? 'no value' : typeName(args[at]);
    return this.#state.argumentFailure(at + 1, `${expected} expected, got ${got}`);
  }
}
