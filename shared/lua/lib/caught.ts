/** What a script is given of an exception. */
import { LuaError, LuaLimitError } from '../lua-error.ts';
import type { LuaValue } from '../values.ts';

/** Those that no script may catch go on. */
export function caught(error: unknown): LuaValue {
  if (error instanceof LuaLimitError) throw error;
  if (error instanceof LuaError) return error.value;
  if (error instanceof RangeError) return 'stack overflow';
  throw error;
}
