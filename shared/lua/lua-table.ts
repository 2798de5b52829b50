/**
 * A table of Lua: values under 1, 2, 3, … in an array, all others in a map that keeps its order, so
 * that `next` goes on from any key even when values were taken away meanwhile.
 */
import { LuaError } from './lua-error.ts';
import type { LuaValue } from './values.ts';

/** Places without a value that are kept before the others move together. */
const EMPTY_PLACES_MIN = 16;

export class LuaTable {
  metatable: LuaTable | undefined = undefined;
  readonly #items: LuaValue[] = [];
  #places: Map<LuaValue, number> | undefined = undefined;
  #keys: LuaValue[] = [];
  #values: LuaValue[] = [];
  #empty = 0;

  static of(items: readonly LuaValue[]): LuaTable {
    const table = new LuaTable();
    for (const [at, item] of items.entries()) table.set(at + 1, item);
    return table;
  }

  /** How many values it has room for: what it costs. */
  get size(): number {
    return this.#items.length + this.#keys.length;
  }

  /** A border: there is a value under it, and none under the number behind. */
  get length(): number {
    if (this.#items.length > 0 || this.#places === undefined) return this.#items.length;
    let border = 0;
    while (this.get(border + 1) !== undefined) border += 1;
    return border;
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number') {
      const item = this.#items[key - 1];
      if (item !== undefined) return item;
    }
    const place = this.#places?.get(key);
    return place === undefined ? undefined : this.#values[place];
  }

  /** Returns whether it grew. */
  set(key: LuaValue, value: LuaValue): boolean {
    if (typeof key === 'number') {
      const at = key - 1;
      const { length } = this.#items;
      if (at >= 0 && at < length && Number.isInteger(at)) return this.#setItem(at, value);
      if (at === length && value !== undefined) return this.#append(value);
      if (Number.isNaN(key)) throw new LuaError('table index is NaN');
    } else if (key === undefined) throw new LuaError('table index is nil');
    return this.#setPlaced(key, value);
  }

  /** The key behind `key` and its value; undefined behind the last one, null for an unknown key. */
  next(key: LuaValue): readonly [LuaValue, LuaValue] | undefined | null {
    let at = 0;
    if (typeof key === 'number' && Number.isInteger(key) && key > 0 && key <= this.#items.length) {
      at = key;
    } else if (key !== undefined) {
      const place = this.#places?.get(key);
      if (place === undefined)
        return typeof key === 'number' && this.#wasItem(key) ? this.#placedFrom(0) : null;
      return this.#placedFrom(place + 1);
    }
    for (; at < this.#items.length; at++) {
      if (this.#items[at] !== undefined) return [at + 1, this.#items[at]];
    }
    return this.#placedFrom(0);
  }

  /** Inserts before `at`, which counts from 1 and is no more than one behind the end. */
  insert(at: number, value: LuaValue): boolean {
    const isPlain = Number.isInteger(at) && at > 0 && at <= this.#items.length;
    if (isPlain && value !== undefined) {
      this.#items.splice(at - 1, 0, value);
      return true;
    }
    for (let to = this.length + 1; to > at; to--) this.set(to, this.get(to - 1));
    return this.set(at, value);
  }

  /** Takes the value under `at`; those behind it move. */
  remove(at: number): LuaValue {
    const taken = this.get(at);
    const { length } = this.#items;
    if (Number.isInteger(at) && at > 0 && at < length && length === this.length) {
      this.#items.splice(at - 1, 1);
      return taken;
    }
    const end = this.length;
    for (let to = at; to < end; to++) this.set(to, this.get(to + 1));
    if (at <= end) this.set(end, undefined);
    return taken;
  }

  /** Everything in it, for counting. */
  *contents(): Generator<LuaValue> {
    yield* this.#items;
    yield* this.#keys;
    yield* this.#values;
    yield this.metatable;
  }

  #wasItem(key: number): boolean {
    return Number.isInteger(key) && key > this.#items.length;
  }

  #setItem(at: number, value: LuaValue): boolean {
    this.#items[at] = value;
    if (value === undefined && at === this.#items.length - 1) {
      while (this.#items.length > 0 && this.#items.at(-1) === undefined) this.#items.pop();
    }
    return false;
  }

  #append(value: LuaValue): boolean {
    const items = this.#items;
    if (this.#places === undefined) {
      items.push(value);
      return true;
    }
    this.#setPlaced(items.length + 1, undefined);
    items.push(value);
    // What was set before its turn came.
    for (;;) {
      const place = this.#places.get(items.length + 1);
      const moved = place === undefined ? undefined : this.#values[place];
      if (moved === undefined) return true;
      this.#setPlaced(items.length + 1, undefined);
      items.push(moved);
    }
  }

  #setPlaced(key: LuaValue, value: LuaValue): boolean {
    const place = this.#places?.get(key);
    if (place !== undefined) {
      const had = this.#values[place] !== undefined;
      this.#values[place] = value;
      if (had !== (value !== undefined)) this.#empty += had ? 1 : -1;
      return false;
    }
    if (value === undefined) return false;
    this.#places ??= new Map();
    if (this.#empty > EMPTY_PLACES_MIN && this.#empty * 2 > this.#keys.length) this.#moveTogether();
    this.#places.set(key, this.#keys.length);
    this.#keys.push(key);
    this.#values.push(value);
    return true;
  }

  #moveTogether(): void {
    const places = new Map<LuaValue, number>();
    const keys: LuaValue[] = [];
    const values: LuaValue[] = [];
    for (const [at, value] of this.#values.entries()) {
      if (value === undefined) continue;
      places.set(this.#keys[at], keys.length);
      keys.push(this.#keys[at]);
      values.push(value);
    }
    this.#places = places;
    this.#keys = keys;
    this.#values = values;
    this.#empty = 0;
  }

  #placedFrom(start: number): readonly [LuaValue, LuaValue] | undefined {
    for (let at = start; at < this.#keys.length; at++) {
      const value = this.#values[at];
      if (value !== undefined) return [this.#keys[at], value];
    }
    return undefined;
  }
}
