/** Whether a script loads: its syntax, and what it does before anything calls its functions. */
import { moduleFiles, type ModuleHost, type ModuleSource } from './lib/module-library.ts';
import { LuaError, LuaLimitError } from './lua-error.ts';
import { LuaTable } from './lua-table.ts';
import { plainText } from './lua-state.ts';
import { ScriptMachine } from './script-machine.ts';
import { streamGlobals } from './stream-globals.ts';

/** Calls of `require` whose module is named in the text. */
const REQUIRED = /\brequire\s*\(?\s*["']([^"'\n]{1,200})["']/g;
const MODULES_MAX = 1_000;

export interface CheckedScript {
  /** What is wrong with it; undefined: nothing. */
  readonly problem: string | undefined;
  /** What it requires while it loads, and what its functions require by name. */
  readonly modules: ReadonlyMap<string, ModuleSource>;
}

export function checkScript(source: string, find: ModuleHost['module']): CheckedScript {
  const modules = new Map<string, ModuleSource>();
  const module: ModuleHost['module'] = (name, files) => {
    const found = modules.get(name) ?? (modules.size < MODULES_MAX ? find(name, files) : undefined);
    if (found !== undefined) modules.set(name, found);
    return found;
  };
  const machine = new ScriptMachine(() => undefined, streamGlobals(), module);
  try {
    machine.load(source);
  } catch (error) {
    if (error instanceof LuaError) return { problem: plainText(error.value), modules };
    if (error instanceof LuaLimitError) return { problem: error.message, modules };
    throw error;
  }
  const library = machine.state.globals.get('package');
  const path = library instanceof LuaTable ? library.get('path') : undefined;
  const look = (text: string): void => {
    for (const [, name = ''] of text.matchAll(REQUIRED)) {
      if (modules.has(name)) continue;
      const found = module(name, moduleFiles(name, path));
      if (found !== undefined) look(found.source);
    }
  };
  look(source);
  for (const each of modules.values()) look(each.source);
  return { problem: undefined, modules };
}
