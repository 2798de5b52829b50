/**
 * Writes down whose work is in the packed files: their licences ask for it wherever a copy goes.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly version: string;
  readonly license: string;
}

/** `inputs` are the packed files, from the project's root; `dist/PACKED_NOTICES` has the texts. */
export function writePackedNotices(projectRoot: string, inputs: readonly string[]): void {
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== undefined));
  const notices = [...folders].sort().map((folder) => noticeOf(projectRoot, folder));
  writeFileSync(join(projectRoot, 'dist', 'PACKED_NOTICES'), notices.join('\n'));
}

/** `node_modules/<name>` of the innermost package around a file. */
function packageFolder(file: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

function noticeOf(projectRoot: string, folder: string): string {
  const path = join(projectRoot, folder);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
  const name = folder.replace(/^.*node_modules\//, '');
  const texts = readdirSync(path)
    .filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
    .map((file) => readFileSync(join(path, file), 'utf8').trim());
  const heading = `${name} ${manifest.version} (${manifest.license})`;
  return [heading, '-'.repeat(heading.length), ...texts, ''].join('\n');
}
