/**
 * Lua's values as JavaScript has them. Strings have one character per byte, nil is undefined. An
 * array is no value but a list of results: functions give one value as it is, and none or several
 * as an array.
 */
import type { LuaTable } from './lua-table.ts';

export type LuaValue =
  | undefined
  | boolean
  | number
  | string
  | LuaTable
  | LuaFunction
  | LuaThread
  | LuaUserdata
  | HostFunction;

export type Results = LuaValue | readonly LuaValue[];

/** A function of the host that never waits. */
export type HostFunction = (...args: LuaValue[]) => Results;

/** What runs until it waits; what it yields is for the driver of the script. */
export type Running = Generator<unknown, Results, unknown>;

export const NO_VALUES: readonly LuaValue[] = Object.freeze([]);

/** A function that may wait: one of a script, or of the host. */
export class LuaFunction {
  readonly begin: (...args: LuaValue[]) => Running;
  /** What it has of the functions around it; only for counting what a script holds. */
  readonly held: readonly unknown[];

  constructor(begin: (...args: LuaValue[]) => Running, held: readonly unknown[] = NO_VALUES) {
    this.begin = begin;
    this.held = held;
  }
}

/** A coroutine. */
export class LuaThread {
  readonly body: LuaFunction | HostFunction;
  running: Running | undefined = undefined;
  status: 'suspended' | 'running' | 'normal' | 'dead' = 'suspended';
  depth = 0;
  readonly sites: (Site | undefined)[] = [];

  constructor(body: LuaFunction | HostFunction) {
    this.body = body;
  }
}

/** An object of the host; its methods are found by name. */
export abstract class LuaUserdata {
  abstract readonly methods: ReadonlyMap<string, HostFunction | LuaFunction>;

  /** What `pairs` takes; undefined: it cannot be iterated. */
  iterate(): HostFunction | undefined {
    return undefined;
  }
}

/** One place in a script at which something may go wrong. */
export interface Site {
  readonly chunk: string;
  readonly line: number;
  /** What is called or used there, such as `local 'x'`; empty: it has no name. */
  readonly name: string;
  /** The same of an operator's right side. */
  readonly right: string;
  /** The call replaces its function, so that errors know neither its name nor its line. */
  readonly isTail: boolean;
  readonly isMethod: boolean;
}

export function firstOf(results: Results): LuaValue {
  return results instanceof Array ? results[0] : (results as LuaValue);
}

export function listOf(results: Results): readonly LuaValue[] {
  return results instanceof Array ? results : [results as LuaValue];
}

const IDENTITIES = new WeakMap<object, number>();
let lastIdentity = 0;

/** In place of an address, which says nothing of this process. */
export function identityOf(value: object): string {
  let id = IDENTITIES.get(value);
  if (id === undefined) IDENTITIES.set(value, (id = ++lastIdentity));
  return `0x${(id * 16).toString(16).padStart(12, '0')}`;
}
