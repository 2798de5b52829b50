/**
 * What the code of a script stands on: its globals and the operators of the language, each with a
 * short way for plain values and a long one for metatables and errors.
 */
import { CallState, typeName } from './call-state.ts';
import { LuaError } from './lua-error.ts';
import { LuaTable } from './lua-table.ts';
import { formatNumber, parseNumber } from './numbers.ts';
import {
  firstOf,
  identityOf,
  listOf,
  LuaFunction,
  LuaUserdata,
  type LuaValue,
  type Results,
  type Running,
  type Site,
} from './values.ts';

/** Metatables that lead to one another. */
const INDEX_CHAIN_MAX = 100;
/** Rough sizes of what a script allocates. */
const TABLE_BYTES = 96;
const ENTRY_BYTES = 32;
const CLOSURE_BYTES = 96;
const STRING_BYTES = 32;

export class LuaState extends CallState {
  globals = new LuaTable();

  list(results: Results): readonly LuaValue[] {
    return listOf(results);
  }

  closure(held: readonly unknown[], begin: (...args: LuaValue[]) => Running): LuaFunction {
    this.charge(CLOSURE_BYTES);
    return new LuaFunction(begin, held);
  }

  table(): LuaTable {
    this.charge(TABLE_BYTES);
    return new LuaTable();
  }

  /** Puts a value into a table for its constructor. */
  put(table: LuaTable, key: LuaValue, value: LuaValue): void {
    if (table.set(key, value)) this.charge(ENTRY_BYTES);
  }

  putList(table: LuaTable, start: number, results: Results): void {
    for (const [at, value] of listOf(results).entries()) this.put(table, start + at, value);
  }

  global(name: string): LuaValue {
    const value = this.globals.get(name);
    return value === undefined && this.globals.metatable !== undefined
      ? this.index(this.globals, name, undefined)
      : value;
  }

  setGlobal(name: string, value: LuaValue): void {
    this.setIndex(this.globals, name, value, undefined);
  }

  index(object: LuaValue, key: LuaValue, site: Site | undefined): LuaValue {
    if (object instanceof LuaTable) {
      const value = object.get(key);
      if (value !== undefined || object.metatable === undefined) return value;
      return this.#inherited(object, key, site);
    }
    if (object instanceof LuaUserdata) return object.methods.get(key as string);
    if (typeof object === 'string') return this.stringMethods.get(key);
    throw this.typeFailure('index', object, site);
  }

  setIndex(object: LuaValue, key: LuaValue, value: LuaValue, site: Site | undefined): void {
    if (!(object instanceof LuaTable)) throw this.typeFailure('index', object, site);
    if (object.metatable !== undefined && object.get(key) === undefined) {
      const handler = object.metatable.get('__newindex');
      if (handler instanceof LuaTable && handler !== object) {
        return this.uninterrupted(() => this.setIndex(handler, key, value, site));
      }
      if (handler !== undefined) return void this.callNow(handler, object, key, value);
    }
    if (key === undefined || Number.isNaN(key)) {
      throw this.failure(`table index is ${key === undefined ? 'nil' : 'NaN'}`, site);
    }
    if (object.set(key, value)) {
      this.charge(ENTRY_BYTES + (typeof key === 'string' ? key.length : 0));
    }
  }

  add(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return left + right;
    return this.#arithmetic('__add', (a, b) => a + b, [left, right, site]);
  }

  subtract(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    return this.#arithmetic('__sub', (a, b) => a - b, [left, right, site]);
  }

  multiply(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return left * right;
    return this.#arithmetic('__mul', (a, b) => a * b, [left, right, site]);
  }

  divide(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return left / right;
    return this.#arithmetic('__div', (a, b) => a / b, [left, right, site]);
  }

  modulo(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return modulo(left, right);
    return this.#arithmetic('__mod', modulo, [left, right, site]);
  }

  power(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    if (typeof left === 'number' && typeof right === 'number') return left ** right;
    return this.#arithmetic('__pow', (a, b) => a ** b, [left, right, site]);
  }

  negate(value: LuaValue, site: Site): LuaValue {
    if (typeof value === 'number') return -value;
    return this.#arithmetic('__unm', (a) => -a, [value, value, site]);
  }

  length(value: LuaValue, site: Site): LuaValue {
    if (typeof value === 'string') return value.length;
    const handler = this.metamethod(value, '__len');
    if (handler !== undefined) return firstOf(this.callNow(handler, value));
    if (value instanceof LuaTable) return value.length;
    throw this.typeFailure('get length of', value, site);
  }

  concat(left: LuaValue, right: LuaValue, site: Site): LuaValue {
    const first = textOf(left);
    const second = textOf(right);
    if (first !== undefined && second !== undefined) {
      this.checkLength(first.length + second.length);
      this.charge(STRING_BYTES + Math.min(first.length, second.length));
      return first + second;
    }
    const handler = this.metamethod(left, '__concat') ?? this.metamethod(right, '__concat');
    if (handler !== undefined) return firstOf(this.callNow(handler, left, right));
    const isLeft = first === undefined;
    throw this.typeFailure(
      'concatenate',
      isLeft ? left : right,
      site,
      isLeft ? site.name : site.right,
    );
  }

  equal(left: LuaValue, right: LuaValue): boolean {
    if (left === right) return true;
    if (!(left instanceof LuaTable && right instanceof LuaTable)) return false;
    const handler = left.metatable?.get('__eq');
    if (handler === undefined || handler !== right.metatable?.get('__eq')) return false;
    return isTrue(firstOf(this.callNow(handler, left, right)));
  }

  less(left: LuaValue, right: LuaValue, site: Site | undefined): boolean {
    if (typeof left === 'number' && typeof right === 'number') return left < right;
    if (typeof left === 'string' && typeof right === 'string') return left < right;
    return this.#compared('__lt', [left, right, site]);
  }

  lessOrEqual(left: LuaValue, right: LuaValue, site: Site | undefined): boolean {
    if (typeof left === 'number' && typeof right === 'number') return left <= right;
    if (typeof left === 'string' && typeof right === 'string') return left <= right;
    return this.#compared('__le', [left, right, site]);
  }

  forNumber(value: LuaValue, what: string, site: Site): number {
    const number = numberOf(value);
    if (number === undefined) throw this.failure(`'for' ${what} value must be a number`, site);
    return number;
  }

  /** As `tostring` has it. */
  text(value: LuaValue): string {
    const handler = this.metamethod(value, '__tostring');
    if (handler !== undefined) {
      const text = firstOf(this.callNow(handler, value));
      if (typeof text !== 'string')
        throw new LuaError("'tostring' must return a string to 'print'");
      return text;
    }
    return plainText(value);
  }

  #inherited(start: LuaTable, key: LuaValue, site: Site | undefined): LuaValue {
    let object: LuaValue = start;
    for (let turn = 0; turn < INDEX_CHAIN_MAX; turn++) {
      if (!(object instanceof LuaTable)) return this.index(object, key, site);
      const value: LuaValue = object.get(key);
      const handler: LuaValue = value === undefined ? object.metatable?.get('__index') : undefined;
      if (handler === undefined) return value;
      if (typeof handler === 'function' || handler instanceof LuaFunction) {
        return firstOf(this.callNow(handler, object, key));
      }
      object = handler;
    }
    throw this.failure("'__index' chain too long; possible loop", site);
  }

  #arithmetic(
    event: string,
    compute: (left: number, right: number) => number,
    [left, right, site]: readonly [LuaValue, LuaValue, Site],
  ): LuaValue {
    const first = numberOf(left);
    const second = numberOf(right);
    if (first !== undefined && second !== undefined) return compute(first, second);
    const handler = this.metamethod(left, event) ?? this.metamethod(right, event);
    if (handler !== undefined) return firstOf(this.callNow(handler, left, right));
    const isLeft = first === undefined;
    const name = isLeft ? site.name : site.right;
    throw this.typeFailure('perform arithmetic on', isLeft ? left : right, site, name);
  }

  #compared(
    event: string,
    [left, right, site]: readonly [LuaValue, LuaValue, Site | undefined],
  ): boolean {
    const handler = this.metamethod(left, event) ?? this.metamethod(right, event);
    if (handler !== undefined) return isTrue(firstOf(this.callNow(handler, left, right)));
    if (event === '__le') {
      const inverse = this.metamethod(left, '__lt') ?? this.metamethod(right, '__lt');
      if (inverse !== undefined) return !isTrue(firstOf(this.callNow(inverse, right, left)));
    }
    const [first, second] = [typeName(left), typeName(right)];
    const words = first === second ? `two ${first} values` : `${first} with ${second}`;
    throw this.failure(`attempt to compare ${words}`, site);
  }
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

/** The number that a value is, or that a string holds. */
export function numberOf(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseNumber(value) : undefined;
}

/** The text of a string or a number. */
export function textOf(value: LuaValue): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? formatNumber(value) : undefined;
}

export function plainText(value: LuaValue): string {
  if (typeof value === 'object' || typeof value === 'function') {
    const isBuiltin = typeof value === 'function';
    return `${typeName(value)}: ${isBuiltin ? 'builtin: ' : ''}${identityOf(value)}`;
  }
  return textOf(value) ?? String(value ?? 'nil');
}

function modulo(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && rest < 0 !== right < 0 ? rest + right : rest;
}
