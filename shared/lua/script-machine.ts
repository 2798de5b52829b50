/** A script with its globals: what is loaded once and then run for every stream. */
import { compileFunction } from 'node:vm';
import { emitScript } from './emitter.ts';
import { openLibraries } from './lib/open-libraries.ts';
import type { ModuleHost } from './lib/module-library.ts';
import { LuaError } from './lua-error.ts';
import { LuaState } from './lua-state.ts';
import { parseScript } from './parser.ts';
import { ScriptRun, runNow } from './script-run.ts';
import { LuaFunction, type LuaValue, NO_VALUES } from './values.ts';

/** What a chunk's name may have in errors, as in LuaJIT. */
const NAME_LENGTH = 48;
const SHORTENED_NAME_LENGTH = 45;
const SPACE = 0x20;
const SOURCE_BYTES_MAX = 4 * 1024 * 1024;

export class ScriptMachine {
  readonly state = new LuaState();

  constructor(
    print: (line: string) => void,
    globals: Readonly<Record<string, LuaValue>> = {},
    module: ModuleHost['module'] = () => undefined,
  ) {
    const load = (source: string, name: string): LuaFunction => this.compile(source, name);
    openLibraries(this.state, { print, load, module });
    for (const [name, value] of Object.entries(globals)) this.state.globals.set(name, value);
  }

  /** Runs the script itself, which defines its functions. `source` has one character per byte. */
  load(source: string): void {
    runNow(this.state, this.compile(source, source));
  }

  start(callee: LuaValue, args: readonly LuaValue[]): ScriptRun {
    return new ScriptRun(this.state, callee, args);
  }

  compile(source: string, name: string): LuaFunction {
    if (source.length > SOURCE_BYTES_MAX) throw new LuaError('chunk is too large');
    if (source.startsWith('\x1b')) throw new LuaError('attempt to load chunk with wrong mode');
    const chunk = chunkName(name);
    try {
      const { code, sites } = emitScript(parseScript(source, chunk), chunk);
      const make = compileFunction(code, ['R', 'K', 'F', 'N']) as (
        ...parts: unknown[]
      ) => LuaFunction['begin'];
      return new LuaFunction(make(this.state, sites, LuaFunction, NO_VALUES));
    } catch (error) {
      if (error instanceof LuaError) throw error;
      // Too deep or too long for the runtime's own compiler.
      throw new LuaError(`${chunk}: function or expression too complex`);
    }
  }
}

/** As errors show it. */
function chunkName(name: string): string {
  if (name.startsWith('=') || name.startsWith('@')) return name.slice(1, 1 + NAME_LENGTH);
  let length = 0;
  while (length < Math.min(NAME_LENGTH, name.length) && name.charCodeAt(length) >= SPACE)
    length += 1;
  if (length === name.length) return `[string "${name}"]`;
  return `[string "${name.slice(0, Math.min(length, SHORTENED_NAME_LENGTH))}..."]`;
}
