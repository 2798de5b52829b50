/** The functions of the language that stand outside of libraries. */
import { typeName } from '../call-state.ts';
import { LuaError } from '../lua-error.ts';
import { isTrue, type LuaState, numberOf } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import {
  type HostFunction,
  listOf,
  LuaFunction,
  LuaUserdata,
  type LuaValue,
  type Results,
} from '../values.ts';
import { caught } from './caught.ts';
import { Arguments } from './check-arguments.ts';

const BASE_MAX = 36;
const DECIMAL = 10;
/** What an error costs that is caught. */
const CAUGHT_STEPS = 100;

export function baseLibrary(state: LuaState): Record<string, LuaValue> {
  const check = new Arguments(state);
  const next: HostFunction = (...args) => {
    const found = check.table(args, 0).next(args[1]);
    if (found === null) throw new LuaError("invalid key to 'next'");
    return found;
  };
  return {
    next,
    pairs: (...args) => pairs(state, check, { args, next }),
    ipairs: (...args) => {
      check.any(args, 0);
      return [nextItem(check), check.table(args, 0), 0];
    },
    type: (...args) => typeName(check.any(args, 0)),
    tostring: (...args) => state.text(check.any(args, 0)),
    tonumber: (...args) => toNumber(state, check, args),
    rawget: (...args) => check.table(args, 0).get(args[1]),
    rawset: (...args) => {
      state.put(check.table(args, 0), check.any(args, 1), args[2]);
      return args[0];
    },
    rawequal: (...args) => check.any(args, 0) === check.any(args, 1),
    rawlen: (...args) =>
      typeof args[0] === 'string' ? args[0].length : check.table(args, 0).length,
    select: (...args) => {
      if (args[0] === '#') return args.length - 1;
      const at = check.integer(args, 0);
      if (at < 0 && -at < args.length) return args.slice(at);
      if (at < 1) throw state.argumentFailure(1, 'index out of range');
      return args.slice(at);
    },
    setmetatable: (...args) => setMetatable(state, check, args),
    getmetatable: (...args) => {
      const value = check.any(args, 0);
      if (typeof value === 'string') return STRING_METATABLES.get(state) ?? undefined;
      return state.metamethod(value, '__metatable') ?? state.metatableOf(value);
    },
    error: (...args) => {
      const [value] = args;
      const level = check.optionalInteger(args, 1, 1);
      throw new LuaError(
        typeof value === 'string' && level > 0 ? state.where(level) + value : value,
      );
    },
    assert: (...args) => {
      if (isTrue(check.any(args, 0))) return args;
      if (args.length < 2) throw state.hostFailure('assertion failed!');
      const [, value] = args;
      throw new LuaError(typeof value === 'string' ? state.where(1) + value : value);
    },
    collectgarbage: (...args) => (args[0] === 'count' ? state.usage.bytes / 1024 : 0),
    gcinfo: () => state.usage.bytes / 1024,
    pcall: protectedCall(state, check),
    xpcall: handledCall(state, check),
  };
}

const STRING_METATABLES = new WeakMap<LuaState, LuaTable>();

/** `("x"):upper()` and `getmetatable("")`. */
export function giveStringsMethods(state: LuaState, library: LuaTable): void {
  for (let each = library.next(undefined); each; each = library.next(each[0])) {
    state.stringMethods.set(each[0], each[1]);
  }
  const metatable = new LuaTable();
  metatable.set('__index', library);
  STRING_METATABLES.set(state, metatable);
}

function nextItem(check: Arguments): HostFunction {
  return (table, at) => {
    const place = (at as number) + 1;
    const value = check.table([table], 0).get(place);
    return value === undefined ? undefined : [place, value];
  };
}

function pairs(
  state: LuaState,
  check: Arguments,
  { args, next }: { readonly args: readonly LuaValue[]; readonly next: HostFunction },
): Results {
  const [value] = args;
  if (value instanceof LuaUserdata) {
    const iterator = value.iterate();
    if (iterator !== undefined) return [iterator, value, undefined];
  }
  const handler = state.metamethod(value, '__pairs');
  if (handler !== undefined) return listOf(state.callNow(handler, value)).slice(0, 3);
  return [next, check.table(args, 0), undefined];
}

function toNumber(
  state: LuaState,
  check: Arguments,
  args: readonly LuaValue[],
): number | undefined {
  const base = check.optionalInteger(args, 1, DECIMAL);
  if (base === DECIMAL) return numberOf(check.any(args, 0));
  if (base < 2 || base > BASE_MAX) throw state.argumentFailure(2, 'base out of range');
  const text = check.text(args, 0).trim().toLowerCase();
  const digits = text.startsWith('0x') && base === 16 ? text.slice(2) : text;
  let value = 0;
  for (const char of digits) {
    const digit = /[0-9a-z]/.test(char) ? Number.parseInt(char, BASE_MAX) : NaN;
    if (!(digit < base)) return undefined;
    value = value * base + digit;
  }
  return digits === '' ? undefined : value;
}

function setMetatable(state: LuaState, check: Arguments, args: readonly LuaValue[]): LuaTable {
  const table = check.table(args, 0);
  const metatable = args[1] === undefined && args.length > 1 ? undefined : check.table(args, 1);
  if (state.metamethod(table, '__metatable') !== undefined) {
    throw state.hostFailure('cannot change a protected metatable');
  }
  table.metatable = metatable;
  return table;
}

function protectedCall(state: LuaState, check: Arguments): LuaFunction {
  return new LuaFunction(function* (...args) {
    const callee = check.any(args, 0);
    const { depth, sites, thread } = state;
    try {
      return [true, ...listOf(yield* state.call(callee, args.slice(1)))];
    } catch (error) {
      state.depth = depth;
      state.sites = sites;
      state.thread = thread;
      state.spend(CAUGHT_STEPS);
      return [false, caught(error)];
    }
  });
}

function handledCall(state: LuaState, check: Arguments): LuaFunction {
  return new LuaFunction(function* (...args) {
    const callee = check.any(args, 0);
    const handler = check.callable(args, 1);
    const { depth, sites, thread } = state;
    try {
      return [true, ...listOf(yield* state.call(callee, args.slice(2)))];
    } catch (error) {
      state.depth = depth;
      state.sites = sites;
      state.thread = thread;
      state.spend(CAUGHT_STEPS);
      return [false, ...listOf(state.callNow(handler, caught(error)))];
    }
  });
}
