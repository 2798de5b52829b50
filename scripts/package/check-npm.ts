/**
 * Checks the npm package as users get it: what is in it and how large it is, and that its exports
 * resolve with their types in every module system (publint, Are the types wrong).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const UNPACKED_MAX = 5_500_000;
const FILES_MAX = 150;

const projectRoot = join(import.meta.dirname, '..', '..', '..');

interface PackReport {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const problems: string[] = [];
const scratch = mkdtempSync(join(tmpdir(), 'sluice-npm-'));
try {
  execFileSync(process.execPath, [join(import.meta.dirname, 'prepare-npm.js')]);
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch];
  const text = execFileSync('npm', words, { cwd: projectRoot, encoding: 'utf8' });
  const [report] = JSON.parse(text) as PackReport[];
  if (report === undefined) throw new Error('npm pack made nothing');
  const { filename, unpackedSize, files } = report;
  console.log(`${filename}: ${files.length} files, ${unpackedSize} bytes unpacked`);
  if (unpackedSize > UNPACKED_MAX) problems.push(`more than ${UNPACKED_MAX} bytes unpacked`);
  if (files.length > FILES_MAX) problems.push(`more than ${FILES_MAX} files`);

  // What resolves packages as Node.js 10 did knows no exports: there is no Node.js 10 here.
  run('publint', [join(scratch, filename), '--strict']);
  // `node --import sluice/register` is all that takes the entry `register`: it has no types.
  const types = ['--profile', 'node16', '--exclude-entrypoints', 'register', '--format', 'ascii'];
  run('attw', [join(scratch, filename), ...types]);
} finally {
  rmSync(scratch, { recursive: true });
}
/** A program of the project's tools; what it prints is for people. */
function run(tool: string, words: readonly string[]): void {
  try {
    execFileSync(join(projectRoot, 'node_modules', '.bin', tool), words, { stdio: 'inherit' });
  } catch {
    problems.push(`${tool} found something`);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
