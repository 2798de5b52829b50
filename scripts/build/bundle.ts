/**
 * The last build step: packs the program and the worker into a few files each, with the packages
 * that they use. Node's module loader takes about half a millisecond of processor time per file,
 * which with some 500 files was 0.4 s of every start. Only the two entries are replaced; every
 * other built file stays as the compiler wrote it, for tests and for pool threads.
 *
 * Beside each packed file lies a table of its lines, `<file>.lines.json`, from which the log names
 * the line of source that wrote an entry without reading a whole source map.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, relative, resolve, dirname } from 'node:path';
import { build, type Plugin } from 'esbuild';
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

/** What would be another thing when it is packed than it is when it is not. */
const refuseWhatChanges: Plugin = {
  name: 'refuse-what-changes',
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
      return { contents, loader: 'ts' };
    });
  },
};

/** They load files of their own by their place: a native addon, the code of a thread. */
const staysOutside: string[] = ['koffi', 'piscina', '@grpc/grpc-js', 'msgpackr-extract'];

const packed = [
  ...(await pack('src/main.ts', 'src/chunks')),
  ...(await pack('workers/process/worker-main.ts', 'workers/process/chunks')),
];
writePackedNotices(projectRoot, packed);

/** Returns the files that went into it. */
async function pack(entry: string, chunkFolder: string): Promise<readonly string[]> {
  rmSync(join(projectRoot, 'dist', chunkFolder), { recursive: true, force: true });
  const result = await build({
    absWorkingDir: projectRoot,
    entryPoints: [entry],
    outbase: '.',
    outdir: 'dist',
    chunkNames: `${chunkFolder}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: staysOutside,
    // What was written for require() asks for Node's own modules with it.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);`,
    },
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    plugins: [refuseWhatChanges],
  });
  for (const file of Object.keys(result.metafile.outputs)) {
    if (file.endsWith('.js')) writeLineTable(join(projectRoot, file));
  }
  return Object.keys(result.metafile.inputs);
}

/**
 * `files` are sources below the project's root; `lines` has file index and line per packed line.
 */
interface LineTable {
  readonly files: readonly string[];
  readonly lines: readonly number[];
}

function writeLineTable(path: string): void {
  const payload = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload;
  const map = new SourceMap(payload);
  const files: string[] = [];
  const lines: number[] = [];
  const text = readFileSync(path, 'utf8').split('\n');
  text.forEach((line, index) => {
    const entry = map.findEntry(index, line.length - line.trimStart().length);
    const isHere = 'generatedLine' in entry && entry.generatedLine === index;
    if (!isHere) return void lines.push(0, 0);
    const file = relative(projectRoot, resolve(dirname(path), entry.originalSource));
    if (!files.includes(file)) files.push(file);
    lines.push(files.indexOf(file), entry.originalLine + 1);
  });
  const table: LineTable = { files, lines };
  writeFileSync(`${path}.lines.json`, JSON.stringify(table));
}
