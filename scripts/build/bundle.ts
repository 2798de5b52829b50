/**
 * The last build step: packs the program and the worker into one file each, with the packages that
 * they use. Node's module loader takes about half a millisecond of processor time per file,
 * which with some 500 files was 0.4 s of every start. Only the two entries are replaced; every
 * other built file stays as the compiler wrote it, for tests and for pool threads. One run of the
 * program then leaves V8's compiled code beside both (shared/process/packed-program.ts).
 *
 * Beside each packed file lies a table of its lines, `<file>.lines`, from which the log names the
 * line of source that wrote an entry without reading a whole source map.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { LINE_BITS, LINE_ENTRY_BYTES } from '../../shared/logging/call-site.ts';
import { makeCodeCaches } from './code-caches.ts';
import { writePackedNotices } from './packed-notices.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..');

/** They ask for the place of a package or of the build, which is the same from everywhere. */
const mayAskForOwnPlace: readonly string[] = [
  'shared/process/built-root.ts',
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

/** Of shared/process/packed-program.ts. */
const WRAPPER = `(function (around) { 'use strict';
const { require, module, __filename, __dirname } = around;`;

const packed = [...(await pack('src/main')), ...(await pack('workers/process/worker-main'))];
writePackedNotices(projectRoot, packed);
await makeCodeCaches(projectRoot);

/** Replaces an entry by one that runs the packed file. Returns the files that went into it. */
async function pack(entry: string): Promise<readonly string[]> {
  const folder = join(projectRoot, 'dist', dirname(entry));
  const result = await build({
    absWorkingDir: projectRoot,
    entryPoints: [`${entry}.ts`],
    outbase: '.',
    outdir: 'dist',
    entryNames: '[dir]/[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    // One script, because V8's code cache is of scripts; what is imported later is run later.
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    external: staysOutside,
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname' },
    banner: { js: WRAPPER },
    footer: { js: '})' },
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    plugins: [refuseUnfit],
  });
  const file = Object.keys(result.metafile.outputs).find((path) => path.endsWith('.cjs'));
  if (file === undefined) throw new Error(`nothing was packed for ${entry}`);
  writeLineTable(join(projectRoot, file));
  removeOlder(folder, basename(entry), basename(file));
  writeFileSync(join(projectRoot, 'dist', `${entry}.js`), entryText(entry, basename(file)));
  return Object.keys(result.metafile.inputs);
}

function entryText(entry: string, file: string): string {
  const up = relative(dirname(entry), '.');
  return `${entry.startsWith('src/') ? '#!/usr/bin/env node\n' : ''}\
import { runPackedProgram } from '${up}/shared/process/packed-program.js';
runPackedProgram(import.meta.dirname + '/${file}');
`;
}

/** Packed files of earlier builds and what belongs to them. */
function removeOlder(folder: string, name: string, kept: string): void {
  for (const file of readdirSync(folder)) {
    const isPacked =
      file.startsWith(`${name}-`) || file === 'chunks' || file.endsWith('.lines.json');
    if (isPacked && !file.startsWith(kept)) rmSync(join(folder, file), { recursive: true });
  }
}

/** Reads as shared/logging/call-site.ts does: an entry per packed line, and the files they name. */
function writeLineTable(path: string): void {
  const payload = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload;
  const map = new SourceMap(payload);
  const files = new Map<string, number>();
  const text = readFileSync(path, 'utf8').split('\n');
  const entries = Buffer.alloc(text.length * LINE_ENTRY_BYTES);
  text.forEach((line, index) => {
    const entry = map.findEntry(index, line.length - line.trimStart().length);
    const isHere = 'generatedLine' in entry && entry.generatedLine === index;
    if (!isHere) return;
    const file = relative(projectRoot, resolve(dirname(path), entry.originalSource));
    const number = files.get(file) ?? files.size;
    files.set(file, number);
    const sourceLine = Math.min(entry.originalLine + 1, 2 ** LINE_BITS - 1);
    entries.writeUInt32LE(number * 2 ** LINE_BITS + sourceLine, index * LINE_ENTRY_BYTES);
  });
  writeFileSync(`${path}.lines`, entries);
  writeFileSync(`${path}.files.json`, JSON.stringify([...files.keys()]));
}
