/**
 * `require` and `package`. Modules are scripts in files, which the host has: they are read when a
 * configuration is loaded, never while requests are served.
 */
import { isFunction } from '../call-state.ts';
import type { LuaState } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import { firstOf, type HostFunction, type LuaFunction, type LuaValue } from '../values.ts';
import type { Arguments } from './check-arguments.ts';
import { tableOf } from './small-libraries.ts';

/** The search path of LuaJIT, as it is built by default. */
const DEFAULT_PATH =
  './?.lua;/usr/local/share/luajit-2.1/?.lua;/usr/local/share/lua/5.1/?.lua;/usr/local/share/lua/5.1/?/init.lua';
/** Templates of a search path that are tried. */
const TEMPLATES_MAX = 100;
const LISTED_NAME_LENGTH = 200;

export interface ModuleHost {
  /** The source of a module, with the first of these files that exists; undefined: none does. */
  module(name: string, files: readonly string[]): ModuleSource | undefined;
  load(source: string, name: string): LuaFunction;
}

export interface ModuleSource {
  /** One character per byte. */
  readonly source: string;
  readonly file: string;
}

/** Sets `package` and `require`; `loaded` are the libraries that are open. */
export function openModules(
  state: LuaState,
  check: Arguments,
  { host, loaded }: { readonly host: ModuleHost; readonly loaded: LuaTable },
): void {
  const preload = new LuaTable();
  const library = tableOf({ loaded, preload, path: DEFAULT_PATH, cpath: '' });
  const loaderOf = (name: string): LuaValue => {
    const own = preload.get(name);
    if (own !== undefined) return own;
    const files = moduleFiles(name, library.get('path'));
    const found = host.module(name, files);
    if (found === undefined) throw state.hostFailure(notFound(name, files));
    return host.load(found.source, `@${found.file}`);
  };
  const require: HostFunction = (...args) => {
    const name = check.text(args, 0);
    const known = loaded.get(name);
    if (known === LOADING) {
      throw state.hostFailure(`loop or previous error loading module '${name}'`);
    }
    if (known !== undefined) return known;
    const loader = loaderOf(name);
    if (!isFunction(loader)) throw state.hostFailure(`module '${name}' has no loader`);
    loaded.set(name, LOADING);
    const value = firstOf(state.callNow(loader, name));
    if (value !== undefined) loaded.set(name, value);
    else if (loaded.get(name) === LOADING) loaded.set(name, true);
    return loaded.get(name);
  };
  state.globals.set('package', library);
  state.globals.set('require', require);
}

/** What stands for a module while it loads. */
const LOADING = new LuaTable();

/** The files that a module of this name may be in, by a search path such as `./?.lua`. */
export function moduleFiles(name: string, path: LuaValue): readonly string[] {
  if (typeof path !== 'string') return [];
  const templates = path.split(';', TEMPLATES_MAX).filter((each) => each !== '');
  return templates.map((template) => template.replaceAll('?', () => name.replaceAll('.', '/')));
}

function notFound(name: string, files: readonly string[]): string {
  const shown = name.slice(0, LISTED_NAME_LENGTH);
  const lines = files.map((file) => `\n\tno file '${file.slice(0, LISTED_NAME_LENGTH)}'`);
  return `module '${shown}' not found:\n\tno field package.preload['${shown}']${lines.join('')}`;
}
