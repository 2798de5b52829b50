/**
 * The last build step: packs the program and the worker into one file each, with the packages that
 * they use. Node's module loader takes about half a millisecond of processor time per file,
 * which with some 500 files was 0.4 s of every start. Each has a small entry, packed too, which
 * does what cannot wait and then loads the other with V8's compiled code (packed-program.ts); one
 * run at the end of the build leaves that beside both. Every other built file stays as the compiler
 * wrote it, for tests and for pool threads.
 *
 * Beside each packed file lies a table (line-table.ts) from which the log names the line of source
 * that wrote an entry without reading a whole source map.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { makeCodeCaches } from './code-caches.ts';
import { writeLineTable } from './line-table.ts';
import { packSmall } from './pack-small.ts';
import { writePackedNotices } from './packed-notices.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..');

/** They ask for the place of a package or of the build, which is the same from everywhere. */
const mayAskForOwnPlace: readonly string[] = [
  'shared/process/built-root.ts',
  'src/main.ts',
  'workers/process/worker-main.ts',
  'shared/regex/run-regex.ts',
];

/**
 * A packed CommonJS module that is loaded with import() exports itself as `default`, not its names.
 */
const takesNamesOfPackage = /\{ (?!default)[^}]*\} =\s+await import\('(?!node:|\.)/;

/** Modules that take milliseconds of every process's start, and what stands in for them. */
const slowToLoad: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^import .* from 'node:assert/m, 'shared/process/assert.ts'],
  [/^import (?!type).* from 'msgpackr'/m, 'shared/channel/msgpack.ts'],
  [/^import .*\bisIP(?:v4|v6)?\b.* from 'node:net'/m, 'shared/addresses/ip-text.ts'],
];

/** What is another thing when it is packed than it is when it is not, or makes every start slow. */
const refuseUnfit: Plugin = {
  name: 'refuse-unfit',
  setup(context) {
    context.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = relative(projectRoot, path);
      const contents = readFileSync(path, 'utf8');
      if (contents.includes('import.meta') && !mayAskForOwnPlace.includes(file)) {
        return { errors: [{ text: `${file} uses import.meta; take paths from built-root.ts` }] };
      }
      if (takesNamesOfPackage.test(contents)) {
        return { errors: [{ text: `${file} takes names of a package; take its default export` }] };
      }
      const slow = slowToLoad.find(([pattern]) => pattern.test(contents));
      if (slow !== undefined) {
        return { errors: [{ text: `${file} imports what loads slowly; take ${slow[1]}` }] };
      }
      return { contents, loader: 'ts' };
    });
  },
};

/** They load files of their own by their place: a native addon, the code of a thread. */
const staysOutside: string[] = ['koffi', 'piscina', '@grpc/grpc-js', 'msgpackr-extract'];

const everyBuild = {
  absWorkingDir: projectRoot,
  outbase: '.',
  bundle: true,
  platform: 'node',
  target: 'node20',
  plugins: [refuseUnfit],
} as const satisfies BuildOptions;

/** So that a stack names a place that can be found. */
const LINE_LIMIT = 200;

/**
 * What packed-program.ts calls. The parameter's name is one that no function of the program has,
 * which would stand in its place.
 */
const WRAPPER = `(function (__packedModule) { 'use strict';
const { require, module, __filename, __dirname } = __packedModule;`;

/** Commands that hold what no server needs, and load it from a packed file of their own. */
const COMMAND_APART = 'src/commands/explain/explain-command';

const apart = await pack(COMMAND_APART);
const program = await pack('src/program', [takesApart(COMMAND_APART, apart.file)]);
if (program.inputs.some((path) => path.startsWith('workers/'))) {
  throw new Error('the program holds parts of the worker, which every server would pay for');
}
const worker = await pack('workers/process/run-worker');
await packEntry('src/main', 'esm', program.file);
// A CommonJS entry loads 5 ms faster. The program's own has a name that tools know.
await packEntry('workers/process/worker-main', 'cjs', worker.file);
const small = await packSmall(projectRoot, { ...everyBuild, external: staysOutside });
writePackedNotices(projectRoot, [...program.inputs, ...worker.inputs, ...apart.inputs, ...small]);
await makeCodeCaches(projectRoot);

interface Packed {
  /** Its name within its folder. */
  readonly file: string;
  /** What went into it. */
  readonly inputs: readonly string[];
}

async function pack(entry: string, plugins: readonly Plugin[] = []): Promise<Packed> {
  const folder = join(projectRoot, 'dist', dirname(entry));
  const result = await build({
    ...everyBuild,
    plugins: [...plugins, refuseUnfit],
    entryPoints: [`${entry}.ts`],
    outdir: 'dist',
    entryNames: '[dir]/[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    // One script, because V8's code cache is of scripts; what is imported later is run later.
    format: 'cjs',
    external: staysOutside,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname' },
    // Each process keeps this text in its memory. Names stay: logs and profiles show them.
    minifyWhitespace: true,
    lineLimit: LINE_LIMIT,
    banner: { js: WRAPPER },
    footer: { js: '})' },
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
  });
  const file = Object.keys(result.metafile.outputs).find((path) => path.endsWith('.cjs'));
  if (file === undefined) throw new Error(`nothing was packed for ${entry}`);
  writeLineTable(projectRoot, join(projectRoot, file));
  removeOlder(folder, basename(file));
  return { file: basename(file), inputs: Object.keys(result.metafile.inputs) };
}

/** Puts the loading of a packed file in the place of the module that it was made of. */
function takesApart(entry: string, file: string): Plugin {
  const parts = { folder: dirname(entry), file };
  const contents = `const { join } = require('node:path');
const { builtRoot } = require('./shared/process/built-root.ts');
const { loadPackedProgram } = require('./shared/process/packed-program.ts');
const { folder, file } = ${JSON.stringify(parts)};
module.exports = loadPackedProgram(join(builtRoot, folder, file));`;
  return {
    name: 'takes-apart',
    setup(context) {
      const filter = new RegExp(`/${basename(entry)}\\.ts$`);
      context.onResolve({ filter }, ({ path }) => ({ path, namespace: 'apart' }));
      context.onLoad({ filter, namespace: 'apart' }, () => ({
        contents,
        resolveDir: projectRoot,
      }));
    },
  };
}

/** Takes the place of what the compiler wrote for the entry. */
async function packEntry(entry: string, format: 'esm' | 'cjs', packedFile: string): Promise<void> {
  const built = join(projectRoot, 'dist', `${entry}.js`);
  rmSync(built, { force: true });
  rmSync(`${built}.map`, { force: true });
  await build({
    ...everyBuild,
    entryPoints: [`${entry}.ts`],
    outfile: `dist/${entry}.${format === 'esm' ? 'js' : 'cjs'}`,
    format,
    define: {
      PACKED_FILE: JSON.stringify(packedFile),
      ...(format === 'cjs' ? { 'import.meta.dirname': '__dirname' } : {}),
    },
  });
}

/** Packed files of earlier builds and what belongs to them. */
function removeOlder(folder: string, kept: string): void {
  for (const file of readdirSync(folder)) {
    if (/-[A-Z0-9]{8}\.cjs/.test(file) && !file.startsWith(kept)) rmSync(join(folder, file));
  }
}
