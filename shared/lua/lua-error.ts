/** What ends a script: an error that it may catch, or a limit that it may not. */
import type { LuaValue } from './values.ts';

/** Raised by `error`, by operators and by functions of the host; `pcall` catches it. */
export class LuaError extends Error {
  readonly value: LuaValue;

  constructor(value: LuaValue) {
    super(typeof value === 'string' ? value : 'a Lua error');
    this.value = value;
  }
}

/** A script took more than it may have: nothing in it can go on. */
export class LuaLimitError extends Error {}
