/** Where a module begins: its file, or what an installed package exports to those that import it. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { readConfiguredFile } from '../config/configured-file.ts';

const DESCRIPTION_CHARACTERS_MAX = 1024 * 1024;
const CONDITIONS: ReadonlySet<string> = new Set(['.', 'node', 'import', 'default']);

export async function findEntry(file: string, packageName: string): Promise<string> {
  if (file !== '') return resolve(file);
  const require = createRequire(join(process.cwd(), 'package.json'));
  for (const folder of require.resolve.paths(packageName) ?? []) {
    const entry = await importedFrom(join(folder, packageName));
    if (entry !== undefined) return entry;
  }
  // It has no exports: its main file. Throws where there is no such package.
  return require.resolve(packageName);
}

async function importedFrom(root: string): Promise<string | undefined> {
  let text: string;
  try {
    const read = await readConfiguredFile(join(root, 'package.json'), DESCRIPTION_CHARACTERS_MAX);
    text = read.toString();
  } catch {
    return undefined;
  }
  const target = targetOf((JSON.parse(text) as { readonly exports?: unknown }).exports);
  return target?.startsWith('./') === true ? join(root, target) : undefined;
}

/** The first that holds, as the runtime chooses. */
function targetOf(exported: unknown): string | undefined {
  if (typeof exported === 'string') return exported;
  if (typeof exported !== 'object' || exported === null) return undefined;
  for (const [key, value] of Object.entries(exported)) {
    const found = Array.isArray(exported) || CONDITIONS.has(key) ? targetOf(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
