/**
 * Runs the built test files with node's test runner. Arguments narrow the list: a file is run when
 * its path contains one of them. Node 20's runner takes no globs, and given a folder it would also
 * run helpers and fixtures, so the list is made here. Without arguments unit tests share processes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

/** Unit tests that share a process: a process of its own for each takes 0.2 s of processor time. */
const UNITS_PER_PROCESS = 8;

const testRoot = join(import.meta.dirname, '..', 'test');
const wanted = process.argv.slice(2);
const files = readdirSync(testRoot, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => join(testRoot, file))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();

if (files.length === 0) {
  console.error(`no test file matches: ${wanted.join(' ')}`);
  process.exit(1);
}
const groups = join(import.meta.dirname, '..', 'test-groups');
rmSync(groups, { recursive: true, force: true });
// Most files wait for processes and timers: with two for each core no core is idle.
const concurrency = availableParallelism() * 2;
const options = ['--enable-source-maps', '--test', `--test-concurrency=${concurrency}`];
// Node's own report, and behind it what was slowest and how much passed.
const own = process.stdout.isTTY ? 'spec' : 'tap';
const reporters = [own, join(import.meta.dirname, 'test-reporter.js')].flatMap((reporter) => [
  `--test-reporter=${reporter}`,
  '--test-reporter-destination=stdout',
]);
const run = wanted.length === 0 ? grouped(files) : files;
const result = spawnSync(process.execPath, [...options, ...reporters, ...run], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_TEST_FILES: String(files.length) },
});
process.exit(result.status ?? 1);

/** One file for several unit tests, in the same order; all others as they are. */
function grouped(all: readonly string[]): readonly string[] {
  const units = all.filter((file) => relative(testRoot, file).startsWith('unit/'));
  const others = all.filter((file) => !units.includes(file));
  mkdirSync(groups);
  const made: string[] = [];
  for (let first = 0; first < units.length; first += UNITS_PER_PROCESS) {
    const path = join(groups, `units-${String(first).padStart(4, '0')}.test.js`);
    const imports = units
      .slice(first, first + UNITS_PER_PROCESS)
      .map((file) => `import '${relative(groups, file)}';\n`);
    writeFileSync(path, imports.join(''));
    made.push(path);
  }
  return [...others, ...made];
}
