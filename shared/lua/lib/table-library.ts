/** The library `table`. */
import { isFunction } from '../call-state.ts';
import { isTrue, type LuaState, textOf } from '../lua-state.ts';
import type { LuaTable } from '../lua-table.ts';
import { firstOf, type HostFunction, type LuaValue, NO_VALUES, type Results } from '../values.ts';
import { typeName } from '../call-state.ts';
import { Arguments } from './check-arguments.ts';

/** Results of one call. */
const RESULTS_MAX = 8000;

export function tableLibrary(state: LuaState): Record<string, HostFunction> {
  const check = new Arguments(state);
  return {
    insert: (...args) => insert(state, check, args),
    remove: (...args) => {
      const table = check.table(args, 0);
      const { length } = table;
      const at = check.optionalInteger(args, 1, length);
      if (length === 0 || at < 1 || at > length) return NO_VALUES;
      state.spend((length - at) >> 4);
      return table.remove(at);
    },
    concat: (...args) => concat(state, check, args),
    sort: (...args) => {
      const table = check.table(args, 0);
      const order = args[1] === undefined ? undefined : check.callable(args, 1);
      sort(state, table, order);
      return NO_VALUES;
    },
    maxn: (...args) => {
      let most = 0;
      for (
        let each = check.table(args, 0).next(undefined);
        each;
        each = check.table(args, 0).next(each[0])
      ) {
        state.spend(1);
        if (typeof each[0] === 'number') most = Math.max(most, each[0]);
      }
      return most;
    },
    getn: (...args) => check.table(args, 0).length,
    foreach: (...args) => {
      const table = check.table(args, 0);
      const act = check.callable(args, 1);
      for (let each = table.next(undefined); each; each = table.next(each[0])) {
        const result = firstOf(state.callNow(act, each[0], each[1]));
        if (result !== undefined) return result;
      }
      return NO_VALUES;
    },
    foreachi: (...args) => {
      const table = check.table(args, 0);
      const act = check.callable(args, 1);
      for (let at = 1; at <= table.length; at++) {
        const result = firstOf(state.callNow(act, at, table.get(at)));
        if (result !== undefined) return result;
      }
      return NO_VALUES;
    },
    pack: (...args) => {
      const table = state.table();
      for (const [at, value] of args.entries()) state.put(table, at + 1, value);
      state.put(table, 'n', args.length);
      return table;
    },
    unpack: (...args) => unpack(state, check, args),
    move: (...args) => move(state, check, args),
  };
}

export function unpack(state: LuaState, check: Arguments, args: readonly LuaValue[]): Results {
  const table = check.table(args, 0);
  const from = check.optionalInteger(args, 1, 1);
  const to = check.optionalInteger(args, 2, table.length);
  if (to - from >= RESULTS_MAX) throw state.hostFailure('too many results to unpack');
  const values: LuaValue[] = [];
  for (let at = from; at <= to; at++) values.push(table.get(at));
  return values;
}

function insert(state: LuaState, check: Arguments, args: readonly LuaValue[]): Results {
  const table = check.table(args, 0);
  if (args.length === 2) state.put(table, table.length + 1, args[1]);
  else if (args.length === 3) {
    const at = check.integer(args, 1);
    const { length } = table;
    if (length - at > MOVES_MAX) throw state.hostFailure('too many elements to move');
    state.spend(Math.max(0, length - at) >> 4);
    if (at < 1) state.put(table, at, args[2]);
    else if (at > length) state.put(table, at, args[2]);
    else if (table.insert(at, args[2])) state.charge(32);
  } else throw state.hostFailure("wrong number of arguments to 'insert'");
  return NO_VALUES;
}

const MOVES_MAX = 10_000_000;

function move(state: LuaState, check: Arguments, args: readonly LuaValue[]): Results {
  const source = check.table(args, 0);
  const [from, to, start] = [
    check.integer(args, 1),
    check.integer(args, 2),
    check.integer(args, 3),
  ];
  const target = args[4] === undefined ? source : check.table(args, 4);
  if (to - from >= MOVES_MAX) throw state.argumentFailure(3, 'too many elements to move');
  state.spend(Math.max(0, to - from) >> 2);
  const isForward = start > to || start <= from || target !== source;
  const count = to - from + 1;
  for (let step = 0; step < count; step++) {
    const at = isForward ? step : count - 1 - step;
    state.put(target, start + at, source.get(from + at));
  }
  return target;
}

function concat(state: LuaState, check: Arguments, args: readonly LuaValue[]): string {
  const table = check.table(args, 0);
  const separator = check.optionalText(args, 1, '');
  const from = check.optionalInteger(args, 2, 1);
  const to = check.optionalInteger(args, 3, table.length);
  const parts: string[] = [];
  let bytes = 0;
  for (let at = from; at <= to; at++) {
    const value = table.get(at);
    const text = textOf(value);
    if (text === undefined) {
      throw state.hostFailure(
        `invalid value (${typeName(value)}) at index ${at} in table for 'concat'`,
      );
    }
    bytes += text.length + separator.length;
    state.checkLength(bytes);
    parts.push(text);
  }
  state.charge(bytes);
  state.spend(parts.length >> 3);
  return parts.join(separator);
}

function sort(state: LuaState, table: LuaTable, order: LuaValue): void {
  const { length } = table;
  const values: LuaValue[] = [];
  for (let at = 1; at <= length; at++) values.push(table.get(at));
  state.spend(length >> 3);
  const isLess = isFunction(order)
    ? (left: LuaValue, right: LuaValue): boolean =>
        isTrue(firstOf(state.callNow(order, left, right)))
    : (left: LuaValue, right: LuaValue): boolean => state.less(left, right, undefined);
  state.uninterrupted(() =>
    values.sort((left, right) => {
      state.spend(1);
      if (isLess(left, right)) return -1;
      return isLess(right, left) ? 1 : 0;
    }),
  );
  for (const [at, value] of values.entries()) table.set(at + 1, value);
}
