/**
 * Runs the built test files with node's test runner. Arguments narrow the list: a file is run when
 * its path contains one of them. Node 20's runner takes no globs, and given a folder it would also
 * run helpers and fixtures, so the list is made here.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

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
// Most files wait for processes and timers: with two for each core no core is idle.
const concurrency = availableParallelism() * 2;
const options = ['--enable-source-maps', '--test', `--test-concurrency=${concurrency}`];
// Node's own report, and behind it what was slowest and how much passed.
const own = process.stdout.isTTY ? 'spec' : 'tap';
const reporters = [own, join(import.meta.dirname, 'test-reporter.js')].flatMap((reporter) => [
  `--test-reporter=${reporter}`,
  '--test-reporter-destination=stdout',
]);
const result = spawnSync(process.execPath, [...options, ...reporters, ...files], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_TEST_FILES: String(files.length) },
});
process.exit(result.status ?? 1);
