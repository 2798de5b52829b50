/**
 * A reporter of node's test runner, beside its own: says in a pipe how far the run is, and at the
 * end what was slowest and how much passed, in one line.
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
  const run = new Run();
  for await (const event of events) {
    const line = run.take(event);
    if (line !== undefined) yield line;
  }
  yield run.conclusion();
}

class Run {
  readonly #isPipe = process.stdout.isTTY !== true;
  readonly #files = new Map<string, number>();
  readonly #tests: Timed[] = [];
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  /** Returns a line of progress now and then. */
  take({ type, data }: TestEvent): string | undefined {
    if (type !== 'test:pass' && type !== 'test:fail') return undefined;
    const { name = '', details = {} } = data;
    const ms = details.duration_ms ?? 0;
    const file = relative(process.cwd(), data.file ?? name).replace(/^dist\//, '');
    const isNew = data.nesting === 0 && this.#addTo(file, ms);
    if (details.type !== 'suite') {
      this.#count(type === 'test:pass', (data.skip ?? false) !== false);
      this.#tests.push({ name: `${file}: ${name}`, ms });
    }
    if (!isNew || !this.#isPipe || this.#files.size % FILES_A_LINE !== 0) return undefined;
    return `# ${this.#files.size} of ${FILES} files, ${this.#failed} failed\n`;
  }

  conclusion(): string {
    const files = [...this.#files].map(([name, ms]) => ({ name, ms }));
    const counts = `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped\n`;
    return slowest('files', files) + slowest('tests', this.#tests) + counts;
  }

  /** Whether the file is new. */
  #addTo(file: string, ms: number): boolean {
    const before = this.#files.get(file);
    this.#files.set(file, (before ?? 0) + ms);
    return before === undefined;
  }

  #count(hasPassed: boolean, isSkipped: boolean): void {
    if (isSkipped) this.#skipped++;
    else if (hasPassed) this.#passed++;
    else this.#failed++;
  }
}

function slowest(what: string, timed: readonly Timed[]): string {
  const lines = timed
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, SLOWEST)
    .map(({ name, ms }) => `#  ${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  return `# slowest ${what}\n${lines.join('')}`;
}
