/**
 * Runs a packed program with the code that V8 compiled of it in an earlier run. Reading that back
 * takes a tenth of the time that parsing and compiling take, and the functions of a request's way
 * are in it.
 *
 * The cache lies beside the packed file, whose name has a hash of its contents, and is as much
 * trusted as that is: a user who may write there may change the program. The build makes it for its
 * own runtime. Another runtime makes its own the first time that it runs long enough, where the
 * folder may be written; V8 itself refuses what another version or other flags made, and the
 * program runs then as without a cache.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, relative } from 'node:path';
import { Script } from 'node:vm';
import { brotliDecompressSync } from 'node:zlib';
import { builtRoot } from './built-root.ts';
import { systemClock } from './clock.ts';

/** After this time in use a program has compiled what it needs; one that ends before saves nothing. */
const SAVE_DELAY_MS = 1_500;
/**
 * Operators who want no file written and none read set it to `off` in the environment. The build
 * sets it to `at-exit`: what has run until the end of the process is in the file, however long it
 * took.
 */
const CODE_CACHE_VARIABLE = 'SLUICE_CODE_CACHE';

/** What a CommonJS module finds around it. */
interface ModuleScope {
  readonly require: NodeJS.Require;
  readonly module: { exports: object };
  readonly __filename: string;
  readonly __dirname: string;
}

/** What the packed CommonJS file at `path`, which is inside its wrapper function, exports. */
export function loadPackedProgram<Exports extends object>(path: string): Exports {
  const choice = process.env[CODE_CACHE_VARIABLE];
  const isCached = choice !== 'off';
  const cachePath = codeCachePath(path);
  const cachedData = isCached ? readIfThere(cachePath) : undefined;
  // V8 keeps the name in its cache: it must hold wherever the built files are moved to.
  const filename = relative(builtRoot, path);
  const script = new Script(readPacked(path), { filename, cachedData });
  const run = script.runInThisContext() as (scope: ModuleScope) => void;
  const module = { exports: {} };
  run({ require: createRequire(path), module, __filename: path, __dirname: dirname(path) });
  if (isCached && cachedData === undefined) {
    if (choice === 'at-exit') process.once('exit', () => save(script, cachePath));
    else systemClock.after(SAVE_DELAY_MS, () => save(script, cachePath), { unref: true });
  }
  return module.exports as Exports;
}

/**
 * One byte a character: the packer writes ASCII alone. The npm package has the file compressed, which costs
 * some milliseconds of each process's start there.
 */
function readPacked(path: string): string {
  if (existsSync(path)) return readFileSync(path, 'latin1');
  return brotliDecompressSync(readFileSync(`${path}.br`)).toString('latin1');
}

/** Where this runtime's code of a packed file is. */
function codeCachePath(path: string): string {
  return `${path}.${process.version}-${process.arch}.cache`;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function save(script: Script, path: string): void {
  const own = `${path}.${process.pid}`;
  try {
    writeFileSync(own, script.createCachedData(), { flag: 'wx', mode: 0o644 });
    renameSync(own, path);
  } catch {
    // It may not be written there: every start compiles, as it would without a cache.
    rmSync(own, { force: true });
  }
}
