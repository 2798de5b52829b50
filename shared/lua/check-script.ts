/** Whether a script loads: its syntax, and what it does before anything calls its functions. */
import { LuaError, LuaLimitError } from './lua-error.ts';
import { plainText } from './lua-state.ts';
import { ScriptMachine } from './script-machine.ts';
import { streamGlobals } from './stream-globals.ts';

/** What is wrong with it; undefined: nothing. */
export function checkScript(source: string): string | undefined {
  try {
    new ScriptMachine(() => undefined, streamGlobals()).load(source);
    return undefined;
  } catch (error) {
    if (error instanceof LuaError) return plainText(error.value);
    if (error instanceof LuaLimitError) return error.message;
    throw error;
  }
}
