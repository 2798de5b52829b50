/**
 * Runs a module out of the texts of its files, under their own paths: stacks name the lines that
 * were written. Nothing of it stays in the runtime's own list of modules, so that an older version
 * can be freed. Needs --experimental-vm-modules. Modules that it does not hold (those of the runtime
 * and of packages) come from the runtime's loader.
 */
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
// Without the flag the runtime has no such exports: naming them here would keep every file that
// imports this one from loading.
import vm, { compileFunction, constants, type Module } from 'node:vm';
import * as filterApi from './filter.ts';
import type { ScriptFile, ScriptModule } from './script-module.ts';

/** Gives the text of a file of the module; undefined: it is not one of them. */
export type ReadScript = (path: string) => Promise<string | undefined> | string | undefined;

export interface RunLimits {
  /** The time limit of the code that runs while the module is loaded, without what it waits for. */
  readonly timeoutMs: number;
}

/** Its default export. */
export async function runModule(
  entry: string,
  read: ReadScript,
  { timeoutMs }: RunLimits,
): Promise<unknown> {
  const graph = new ModuleGraph(read);
  const module = await graph.fileModule(entry);
  if (module === undefined) throw new Error(`cannot find ${entry}`);
  await module.link(graph.link);
  await module.evaluate({ timeout: timeoutMs });
  return (module.namespace as { readonly default?: unknown }).default;
}

export function readerOf({ files }: Pick<ScriptModule, 'files'>): ReadScript {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return (path) => texts.get(path);
}

export function digestOf(files: readonly ScriptFile[]): string {
  const hash = createHash('sha256');
  for (const { path, text } of files) {
    hash.update(`${Buffer.byteLength(path)} ${Buffer.byteLength(text)} ${path}${text}`);
  }
  return hash.digest('hex');
}

class ModuleGraph {
  readonly #read: ReadScript;
  readonly #modules = new Map<string, Promise<Module | undefined>>();

  constructor(read: ReadScript) {
    this.#read = read;
  }

  readonly link = async (specifier: string, referrer: Module): Promise<Module> => {
    if (specifier === 'sluice/filter') return await this.#once(specifier, () => apiModule());
    const path = filePath(specifier, referrer.identifier);
    if (path !== undefined) {
      const file = await this.fileModule(path);
      if (file !== undefined) return file;
    }
    const key = `${specifier} from ${dirname(referrer.identifier)}`;
    return await this.#once(key, () => outsideModule(specifier, referrer.identifier));
  };

  async fileModule(path: string): Promise<Module | undefined> {
    return await this.#cached(path, async () => {
      const text = await this.#read(path);
      if (text === undefined) return undefined;
      if (path.endsWith('.json'))
        return valueModule(path, { default: JSON.parse(text) as unknown });
      return new vm.SourceTextModule(text, {
        identifier: path,
        initializeImportMeta: (meta) => {
          meta.filename = path;
          meta.dirname = dirname(path);
          meta.url = pathToFileURL(path).href;
        },
        importModuleDynamically: async (specifier, referrer) => {
          const module = await this.link(specifier, referrer as unknown as Module);
          if (module.status === 'unlinked') await module.link(this.link);
          if (module.status === 'linked') await module.evaluate();
          return module;
        },
      });
    });
  }

  async #once(key: string, make: () => Module | Promise<Module>): Promise<Module> {
    const module = await this.#cached(key, async () => await make());
    if (module === undefined) throw new Error(`cannot load ${key}`);
    return module;
  }

  #cached(key: string, make: () => Promise<Module | undefined>): Promise<Module | undefined> {
    let made = this.#modules.get(key);
    if (made === undefined) {
      made = make();
      this.#modules.set(key, made);
    }
    return made;
  }
}

/** Undefined: it is no path. */
function filePath(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('file:')) return fileURLToPath(specifier);
  if (/^\.{0,2}\//.test(specifier)) return resolve(dirname(from), specifier);
  return undefined;
}

function apiModule(): Module {
  return valueModule('sluice/filter', filterApi);
}

/** The runtime's loader looks from the place of the file that imports. */
async function outsideModule(specifier: string, from: string): Promise<Module> {
  const load = compileFunction('return import(specifier)', ['specifier'], {
    filename: from,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }) as (specifier: string) => Promise<object>;
  return valueModule(specifier, await load(specifier));
}

function valueModule(identifier: string, values: object): Module {
  const names = Object.keys(values);
  const module = new vm.SyntheticModule(
    names,
    () => {
      for (const name of names) {
        module.setExport(name, (values as Readonly<Record<string, unknown>>)[name]);
      }
    },
    { identifier },
  );
  return module;
}
