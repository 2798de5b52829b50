/**
 * A reporter of node's test runner, beside its own: says in a pipe how far the run is, and at the end
 * what was slowest and how much passed, in one line.
 */
import { relative } from 'node:path';

/** Files to be run, told by run-tests. */
const FILES = Number(process.env['SLUICE_TEST_FILES'] ?? 0);
const SLOWEST = 10;
/** Progress is told after so many files. */
const FILES_A_LINE = 25;

interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly nesting?: number;
    readonly skip?: string | boolean;
    readonly details?: { readonly duration_ms?: number; readonly type?: string };
  };
}

interface Timed {
  readonly name: string;
  readonly ms: number;
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const files = new Map<string, number>();
  const tests: Timed[] = [];
  const isPipe = process.stdout.isTTY !== true;
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name = '', nesting = 0, skip, details = {} } = data;
    const ms = details.duration_ms ?? 0;
    const file = relative(process.cwd(), data.file ?? name).replace(/^dist\//, '');
    if (nesting === 0) {
      const isNew = !files.has(file);
      files.set(file, (files.get(file) ?? 0) + ms);
      if (isNew && isPipe && files.size % FILES_A_LINE === 0) {
        yield `# ${files.size} of ${FILES} files, ${counts.failed} failed\n`;
      }
    }
    if (details.type === 'suite') continue;
    if (skip !== undefined && skip !== false) counts.skipped++;
    else if (type === 'test:pass') counts.passed++;
    else counts.failed++;
    tests.push({ name: `${file}: ${name}`, ms });
  }
  yield slowest(
    'files',
    [...files].map(([name, ms]) => ({ name, ms })),
  );
  yield slowest('tests', tests);
  yield `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}

function slowest(what: string, timed: readonly Timed[]): string {
  const lines = timed
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, SLOWEST)
    .map(({ name, ms }) => `#  ${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  return `# slowest ${what}\n${lines.join('')}`;
}
