/** The globals that a script begins with. What would reach this machine is there and refuses. */
import { LuaError } from '../lua-error.ts';
import type { LuaState } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import {
  listOf,
  type HostFunction,
  type LuaFunction,
  type LuaValue,
  NO_VALUES,
} from '../values.ts';
import { baseLibrary, giveStringsMethods } from './base-library.ts';
import { Arguments } from './check-arguments.ts';
import { coroutineLibrary } from './coroutine-library.ts';
import { type ModuleHost, openModules } from './module-library.ts';
import { bitLibrary, mathLibrary, osLibrary, refusedFunction, tableOf } from './small-libraries.ts';
import { stringLibrary } from './string-library.ts';
import { tableLibrary, unpack } from './table-library.ts';

export interface ScriptHost extends ModuleHost {
  /** A line that a script prints. */
  print(line: string): void;
  /** Compiles a chunk; an error of its syntax is a LuaError. */
  load(source: string, name: string): LuaFunction;
}

const REFUSED = 'dofile loadfile module newproxy getfenv setfenv'.split(' ');
const REFUSED_IO = 'close flush input lines open output popen read tmpfile type write'.split(' ');
const REFUSED_DEBUG =
  'debug getfenv gethook getinfo getlocal getmetatable getregistry getupvalue setfenv sethook setlocal setmetatable setupvalue upvalueid upvaluejoin'.split(
    ' ',
  );

export function openLibraries(state: LuaState, host: ScriptHost): void {
  const check = new Arguments(state);
  const { globals } = state;
  const refused = (library: string, names: readonly string[]): Record<string, HostFunction> =>
    Object.fromEntries(names.map((name) => [name, refusedFunction(state, library + name)]));
  const libraries: Record<string, Record<string, LuaValue>> = {
    string: stringLibrary(state),
    table: tableLibrary(state),
    math: mathLibrary(state),
    bit: bitLibrary(state),
    coroutine: coroutineLibrary(state, check),
    os: osLibrary(state),
    io: refused('io.', REFUSED_IO),
    debug: { ...refused('debug.', REFUSED_DEBUG), traceback: (...args) => traceback(args) },
    jit: {
      version: 'LuaJIT 2.1.0',
      version_num: 20100,
      os: 'Linux',
      arch: 'x64',
      ...jitSwitches(),
    },
  };
  const base = { ...baseLibrary(state), ...refused('', REFUSED), ...loaders(state, check, host) };
  for (const [name, value] of Object.entries(base)) globals.set(name, value);
  const loaded = new LuaTable();
  for (const [name, members] of Object.entries(libraries)) {
    const library = tableOf(members);
    globals.set(name, library);
    loaded.set(name, library);
  }
  globals.set('unpack', (...args: LuaValue[]) => unpack(state, check, args));
  globals.set('print', (...args: LuaValue[]) => {
    host.print(args.map((each) => state.text(each)).join('\t'));
    return NO_VALUES;
  });
  globals.set('_G', globals);
  globals.set('_VERSION', 'Lua 5.1');
  loaded.set('_G', globals);
  openModules(state, check, { host, loaded });
  giveStringsMethods(state, globals.get('string') as LuaTable);
}

/** They change nothing here. */
function jitSwitches(): Record<string, HostFunction> {
  return { on: () => NO_VALUES, off: () => NO_VALUES, flush: () => NO_VALUES, status: () => true };
}

function traceback(args: readonly LuaValue[]): LuaValue {
  const [message] = args;
  if (message !== undefined && typeof message !== 'string' && typeof message !== 'number')
    return message;
  return `${message === undefined ? '' : `${message}\n`}stack traceback:`;
}

function loaders(
  state: LuaState,
  check: Arguments,
  host: ScriptHost,
): Record<string, HostFunction> {
  const load: HostFunction = (...args) => {
    const source =
      typeof args[0] === 'string' ? check.text(args, 0) : pieces(state, check.callable(args, 0));
    try {
      state.spend(source.length);
      state.charge(source.length * LOADED_BYTES_PER_CHARACTER);
      return host.load(source, check.optionalText(args, 1, source));
    } catch (error) {
      if (error instanceof LuaError) return [undefined, error.value];
      throw error;
    }
  };
  return { load, loadstring: load };
}

const LOADED_BYTES_PER_CHARACTER = 20;
const PIECES_MAX = 10_000;

/** What a function gives piece by piece. */
function pieces(state: LuaState, next: LuaValue): string {
  const parts: string[] = [];
  for (let count = 0; count < PIECES_MAX; count++) {
    const [piece] = listOf(state.callNow(next));
    if (piece === undefined || piece === '') break;
    if (typeof piece !== 'string') throw new LuaError('reader function must return a string');
    parts.push(piece);
  }
  return parts.join('');
}
