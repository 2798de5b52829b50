/** Globals that scripts of streams have besides those of the language. */
import { LuaTable } from './lua-table.ts';
import type { LuaValue } from './values.ts';

export const MILLISECOND = 0;
export const MICROSECOND = 1;

export function streamGlobals(): Record<string, LuaValue> {
  const resolution = new LuaTable();
  resolution.set('MILLISECOND', MILLISECOND);
  resolution.set('MICROSECOND', MICROSECOND);
  return { EnvoyTimestampResolution: resolution };
}
