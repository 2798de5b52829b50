/**
 * Where the built files are. Code is loaded from its own file in tests and from a bundle in the
 * program, so that a path relative to the code's own place would mean two things: everything that
 * reads a file of the package starts here.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `dist`, absolute. */
export const builtRoot = findBuiltRoot(import.meta.dirname);

/**
 * The file of a script by its name in stacks and profiles: a URL, or for a packed file its path below
 * the built files. Undefined for the runtime's own scripts.
 */
export function scriptFile(name: string): string | undefined {
  if (name.startsWith('file:')) return fileURLToPath(name);
  return name.endsWith('.cjs') ? resolve(builtRoot, name) : undefined;
}

function findBuiltRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'shared', 'build-stamp.json'))) return folder;
    if (folder === dirname(folder)) throw new Error(`no built files around ${start}`);
  }
}
