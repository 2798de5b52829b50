/**
 * Runs the built test files with node's test runner. Arguments narrow the list: a file is run when
 * its path contains one of them. Node 20's runner takes no globs, and given a folder it would also
 * run helpers and fixtures, so the list is made here. Of many files several share a process.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

/** How many files of a level share a process: one for each file takes 0.2 s of processor time. */
const FILES_PER_PROCESS = { unit: 8, 'data-plane': 4, attacks: 4, integration: 3 };
/** Of fewer files each has its process. */
const GROUPED_FROM = 40;
/** They measure the time or the memory of their process, or change its environment or its handlers of exceptions. */
const ALONE = [
  /^data-plane\/http2\/exceptions/,
  /^integration\/(?:xds\/fuzz|life-cycle\/caught-exceptions|hot-restart\/)/,
  /^attacks\/(?:limits|tables|http2)\//,
  /^attacks\/services\/(?:.*control-planes|failing-services|lua-scripts|udp-name-servers|grpc-transport)/,
  /^attacks\/(?:message-channel|address-spellings|http2-verdicts|configuration-bombs|many-restarts)/,
];
/** In the long form of the attacks each file has its process. */
const isLong = process.env['SLUICE_ATTACKS'] === 'long';

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
const run = isLong || files.length < GROUPED_FROM ? files : grouped(files);
const result = spawnSync(process.execPath, [...options, ...reporters, ...run], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_TEST_FILES: String(files.length) },
});
process.exit(result.status ?? 1);

/** One file for several of a level, in the same order; all others as they are. */
function grouped(all: readonly string[]): readonly string[] {
  mkdirSync(groups);
  const levels = Object.entries(FILES_PER_PROCESS).map(([level, size]) => {
    const inside = all.filter((file) => levelOf(file) === level);
    return Array.from({ length: Math.ceil(inside.length / size) }, (_, index) => {
      const path = join(groups, `${level}-${String(index).padStart(3, '0')}.test.js`);
      const members = inside.slice(index * size, (index + 1) * size);
      const imports = members.map((file) => `import '${relative(groups, file)}';\n`);
      writeFileSync(path, imports.join(''));
      return path;
    });
  });
  const [units = [], ...others] = levels;
  return [...all.filter((file) => levelOf(file) === undefined), ...others.flat(), ...units];
}

/** Undefined for files that have a process each. */
function levelOf(file: string): string | undefined {
  const path = relative(testRoot, file);
  const [level = ''] = path.split('/');
  return Object.hasOwn(FILES_PER_PROCESS, level) && !ALONE.some((name) => name.test(path))
    ? level
    : undefined;
}
