/**
 * `npm run conformance`: the full comparison with Envoy, where the comparison tool and its
 * cases stand beside the project (`../shared/conformance`) and `envoy` is on PATH or answers were
 * recorded (`--golden FOLDER`). Without the tool it says so; `npm test` runs the project's own
 * cases against recorded answers. A difference that test/conformance/intended.json does not list
 * fails, and so does a listed one that is gone. Options: `--only REGEX`, `--golden FOLDER`,
 * `--report FOLDER`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { COMPARISON, needComparison, PROJECT } from './conformance-tool.ts';
import { readIntended, type IntendedDifference } from '../test/conformance/golden.ts';

interface CaseResult {
  readonly name: string;
  readonly matched: number;
  readonly total: number;
  readonly error: string | null;
  readonly differences: readonly {
    readonly kind: IntendedDifference['kind'];
    readonly fact: string;
    readonly reference: unknown;
    readonly candidate: unknown;
  }[];
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    golden: { type: 'string' },
    report: { type: 'string' },
  },
});
needComparison();

const results = runComparison();
const intended = readIntended();
let failed = 0;
for (const result of results) {
  const own = intended.filter((entry) => entry.case === result.name);
  const unexpected = result.differences.filter(
    (difference) => !own.some((entry) => isSame(entry, difference)),
  );
  const gone = own.filter((entry) => !result.differences.some((found) => isSame(entry, found)));
  const isGood = result.error === null && unexpected.length === 0 && gone.length === 0;
  if (!isGood) failed++;
  const meant = result.differences.length - unexpected.length;
  console.log(
    `${isGood ? 'ok  ' : 'FAIL'} ${result.name}: ${result.matched}/${result.total} facts, ${meant} intended differences`,
  );
  if (result.error !== null) console.log(`     error: ${result.error}`);
  for (const { kind, fact, reference, candidate } of unexpected) {
    console.log(`     ${kind} ${fact}: ${brief(reference)} | ${brief(candidate)}`);
  }
  for (const { kind, fact } of gone) console.log(`     listed but not seen: ${kind} ${fact}`);
}
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function runComparison(): readonly CaseResult[] {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-conformance-'));
  const output = join(scratch, 'results.json');
  try {
    const reference =
      values.golden === undefined ? ['--reference', 'envoy'] : ['--golden', values.golden];
    const main = join(PROJECT, 'dist', 'src', 'main.js');
    const done = spawnSync(
      join(COMPARISON, 'compare'),
      [
        ...reference,
        '--candidate',
        `${process.execPath} ${main}`,
        '--json',
        output,
        '--differences',
        '0',
        ...(values.only === undefined ? [] : ['--only', values.only]),
        ...(values.report === undefined ? [] : ['--report', values.report]),
        join(COMPARISON, 'cases'),
      ],
      { encoding: 'utf8' },
    );
    if (!existsSync(output)) throw new Error(`the comparison did not run: ${done.stderr}`);
    return (JSON.parse(readFileSync(output, 'utf8')) as { cases: CaseResult[] }).cases;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function isSame(entry: IntendedDifference, difference: CaseResult['differences'][number]): boolean {
  return (
    entry.fact === difference.fact &&
    entry.kind === difference.kind &&
    JSON.stringify(entry.ours ?? null) === JSON.stringify(difference.candidate ?? null)
  );
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
