/** Values of configuration and metadata to those of scripts and back. */
import type { LuaState } from '../../../../shared/lua/lua-state.ts';
import { typeName } from '../../../../shared/lua/call-state.ts';
import { LuaTable } from '../../../../shared/lua/lua-table.ts';
import type { LuaValue } from '../../../../shared/lua/values.ts';
import { dictionary } from '../../../../shared/text/dictionary.ts';

const DEPTH_MAX = 32;
const VALUES_MAX = 10_000;

/** Lists begin at 1. */
export function toScript(value: unknown): LuaValue {
  if (typeof value === 'string') return Buffer.from(value).toString('latin1');
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return LuaTable.of(value.map(toScript));
  if (typeof value !== 'object' || value === null) return undefined;
  const table = new LuaTable();
  for (const [key, each] of Object.entries(value)) table.set(toScript(key), toScript(each));
  return table;
}

/** What a script puts into metadata, as a value; an error for what has no place there. */
export function fromScript(state: LuaState, value: LuaValue): unknown {
  let count = 0;
  const convert = (each: LuaValue, depth: number): unknown => {
    count += 1;
    if (count > VALUES_MAX || depth > DEPTH_MAX)
      throw state.hostFailure('value is too large for metadata');
    if (each === undefined) return null;
    if (typeof each === 'string') return Buffer.from(each, 'latin1').toString();
    if (typeof each === 'number' || typeof each === 'boolean') return each;
    if (!(each instanceof LuaTable)) {
      throw state.hostFailure(`unexpected type '${typeName(each)}' in dynamicMetadata`);
    }
    return each.length > 0 ? list(each, depth) : struct(each, depth);
  };
  const list = (table: LuaTable, depth: number): unknown[] => {
    const items: unknown[] = [];
    for (let pair = table.next(undefined); pair; pair = table.next(pair[0])) {
      if (typeof pair[0] !== 'number') {
        throw state.hostFailure(
          `unexpected type ${typeName(pair[0])} in table key (only number keys are supported)`,
        );
      }
      items.push(convert(pair[1], depth + 1));
    }
    return items;
  };
  const struct = (table: LuaTable, depth: number): unknown => {
    const made = dictionary<unknown>();
    for (let pair = table.next(undefined); pair; pair = table.next(pair[0])) {
      if (typeof pair[0] !== 'string') {
        throw state.hostFailure(
          `unexpected type ${typeName(pair[0])} in table key (only string keys are supported)`,
        );
      }
      made[Buffer.from(pair[0], 'latin1').toString()] = convert(pair[1], depth + 1);
    }
    return made;
  };
  return convert(value, 0);
}
