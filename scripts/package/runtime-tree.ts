/**
 * The program as packages of an operating system have it: a Node.js of its own, the built files with V8's code
 * of them, and the packages that load files by their place, with what those need.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const projectRoot = join(import.meta.dirname, '..', '..', '..');

/** Below dist/: files, or folders as a whole. */
const BUILT = [
  'PACKED_NOTICES',
  'shared/api/packages.archive',
  'shared/build-stamp.json',
  'supervisor/admin/html',
  'supervisor/config/pool-entry.cjs',
  'supervisor/profiling/pool-entry.cjs',
  'supervisor/scripts/discovery/thread-entry.cjs',
  'supervisor/scripts/pool-entry.cjs',
  'supervisor/stats/guarded-filter/pool-entry.cjs',
  'workers/process/worker-main.cjs',
];
/** Run by the tree's own Node.js, whose name stands in no first line. */
const ENTRIES = ['dist/src/main.js', 'dist/src/restarter-main.js'];
/** Folders with packed files, whose names have a hash. */
const PACKED = ['src', 'src/commands/explain', 'workers/process'];
const PACKED_FILE = /-[A-Z0-9]{8}\.cjs(?:\.lines|\.files\.json|\..+\.cache)?$/;
/** What the bundler leaves outside, see scripts/build/bundle.ts. */
const LOADED = ['koffi', 'piscina', '@grpc/grpc-js', '@swc/wasm-typescript'];
/**
 * Files without use to a program that runs here: declarations, maps, tools, and what koffi is
 * compiled from.
 */
const LEFT_OUT = [
  /(?:\.map|\.md|\.[cm]?ts|\.npmignore)$/,
  /\/koffi\/(?:vendor|src|doc|cnoke\.cjs)(?:\/|$)/,
  /\/koffi-linux-[^/]*\/musl_/,
  /\/proto-loader\/build\/bin(?:\/|$)/,
  /\/piscina\/(?:benchmark|docs|examples|test)(?:\/|$)/,
];
const DECLARATIONS_ALONE = /^(?:@types\/|undici-types$)/;

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function readManifest(folder = projectRoot): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Fills `target`, an empty or absent folder. */
export function stageRuntime(target: string): void {
  mkdirSync(target, { recursive: true });
  for (const path of BUILT) copy(join('dist', path), target);
  for (const folder of PACKED) {
    for (const file of readdirSync(join(projectRoot, 'dist', folder))) {
      if (PACKED_FILE.test(file)) copy(join('dist', folder, file), target);
    }
  }
  copy('docs/examples', target);
  for (const entry of ENTRIES) {
    const text = readFileSync(join(projectRoot, entry), 'utf8');
    writeFileSync(join(target, entry), text.replace(/^#!.*\n/, ''));
  }
  const { name, version, type } = readManifest() as Manifest & Record<'name' | 'type', string>;
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ name, version, type })}\n`);
  for (const folder of closure()) copyPackage(folder, target);
  stageNode(join(target, 'node'));
}

/** Without the symbols that only a debugger of Node.js itself reads. */
function stageNode(path: string): void {
  cpSync(process.execPath, path, { dereference: true });
  try {
    execFileSync('strip', ['--strip-unneeded', path]);
  } catch {
    // A machine without binutils: a file that is larger by an eighth.
  }
}

/** Where the licence of this Node.js may lie, from its binary and on Debian. */
export function nodeLicence(): string {
  const places = [
    join(dirname(process.execPath), '..', 'LICENSE'),
    '/usr/share/doc/nodejs/LICENSE',
    '/usr/share/doc/nodejs/copyright',
  ];
  const found = places.find((place) => existsSync(place));
  if (found === undefined) throw new Error(`no licence of Node.js in ${places.join(', ')}`);
  return readFileSync(found, 'utf8');
}

function copy(path: string, target: string): void {
  cpSync(join(projectRoot, path), join(target, path), { recursive: true });
}

function copyPackage(folder: string, target: string): void {
  cpSync(join(projectRoot, folder), join(target, folder), {
    recursive: true,
    filter: (source) => {
      return !LEFT_OUT.some((pattern) => pattern.test(source));
    },
  });
}

/** Folders of the packages and of all that they need, from the project's root. */
function closure(): readonly string[] {
  const found = new Set<string>();
  const add = (name: string, from: string, isNeeded: boolean): void => {
    if (DECLARATIONS_ALONE.test(name)) return;
    const folder = locate(name, from);
    if (folder === undefined) {
      if (isNeeded) throw new Error(`${name} of ${from} is not installed`);
      return;
    }
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {} } = readManifest(
      join(projectRoot, folder),
    );
    for (const each of Object.keys(dependencies)) {
      add(each, folder, !Object.hasOwn(optionalDependencies, each));
    }
    for (const each of Object.keys(optionalDependencies)) add(each, folder, false);
  };
  for (const name of LOADED) add(name, '', true);
  // Packages inside another's folder are copied with it.
  return [...found].filter((folder) => ![...found].some((other) => folder.startsWith(`${other}/`)));
}

/** As Node.js looks for it. */
function locate(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder === '.' ? '' : folder, 'node_modules', name);
    if (existsSync(join(projectRoot, candidate, 'package.json'))) return candidate;
    if (folder === '' || folder === '.') return undefined;
  }
}
