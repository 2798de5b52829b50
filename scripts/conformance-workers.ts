/**
 * `node dist/scripts/conformance-workers.js [--workers 2] [--runs 3] [--only REGEX]`: the cases of the full
 * comparison with several workers on both sides, where the comparison tool stands beside the
 * project and `envoy` is on PATH. With several workers Envoy differs from itself, since the kernel
 * chooses who takes a connection: both are asked several times, and what Sluice says of a fact has
 * to be one of Envoy's answers at least once. Lines of access logs are not compared by their order.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { COMPARISON, needComparison, PROJECT } from './conformance-tool.ts';
import { readIntended } from '../test/conformance/golden.ts';

type Facts = Readonly<Record<string, unknown>>;

interface CaseResult {
  readonly name: string;
  readonly total: number;
  readonly error: string | null;
  readonly differences: readonly { readonly fact: string; readonly candidate: unknown }[];
}

const UPSTREAM_CASES =
  '^(clusters|cluster-health|circuit-breakers|retries|routing|histograms|tcp-proxy|stats-formats)$';
const LOG_LINE = /read_file \| line \d+$/;

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '2' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string', default: UPSTREAM_CASES },
  },
});
needComparison();
const scratch = mkdtempSync(join(tmpdir(), 'sluice-conformance-workers-'));
try {
  process.exitCode = compare() ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function compare(): boolean {
  const cases = writeCases();
  const runs = Array.from({ length: Number(values.runs) }, (_, run) => join(scratch, `run-${run}`));
  for (const run of runs) tool('--reference', 'envoy', '--record', run, cases);
  const candidate = `${process.execPath} ${join(PROJECT, 'dist', 'src', 'main.js')}`;
  const results = runs.flatMap((run) => {
    const output = `${run}.json`;
    tool('--golden', run, '--candidate', candidate, '--json', output, '--differences', '0', cases);
    return (JSON.parse(readFileSync(output, 'utf8')) as { cases: CaseResult[] }).cases;
  });
  return [...new Set(results.map(({ name }) => name))]
    .map((name) => judge(name, results, runs))
    .every(Boolean);
}

/** Whether each fact was one of Envoy's answers in some run. */
function judge(name: string, results: readonly CaseResult[], runs: readonly string[]): boolean {
  const own = results.filter((result) => result.name === name);
  const recorded = runs.map((run) => factsOf(join(run, `${name}.json`)));
  const intended = readIntended().filter((entry) => entry.case === name);
  const known = new Set(intended.map(({ fact }) => fact));
  const strange = new Map<string, unknown[]>();
  for (const { fact, candidate } of own.flatMap(({ differences }) => differences)) {
    if (LOG_LINE.test(fact) || known.has(fact)) continue;
    if (recorded.some((facts) => isSame(facts[fact], candidate))) continue;
    strange.set(fact, [...(strange.get(fact) ?? []), candidate]);
  }
  const unexpected = [...strange].filter(([, answers]) => answers.length === own.length);
  const errors = own.flatMap(({ error }) => (error === null ? [] : [error]));
  const isGood = unexpected.length === 0 && errors.length === 0;
  console.log(
    `${isGood ? 'ok  ' : 'FAIL'} ${name}: ${own[0]?.total} facts, ${own.length} runs, ` +
      `${strange.size - unexpected.length} differ in some run`,
  );
  for (const error of errors) console.log(`     error: ${error}`);
  for (const [fact, answers] of unexpected) {
    const reference = [...new Set(recorded.map((facts) => JSON.stringify(facts[fact])))].join(', ');
    console.log(`     ${fact}: ${JSON.stringify(answers)} | reference: ${reference}`);
  }
  return isGood;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

function factsOf(file: string): Facts {
  return (JSON.parse(readFileSync(file, 'utf8')) as { facts: Facts }).facts;
}

/** The cases with another number of workers. */
function writeCases(): string {
  const target = join(scratch, 'cases');
  for (const name of readdirSync(join(COMPARISON, 'cases'))) {
    if (!new RegExp(values.only).test(name)) continue;
    cpSync(join(COMPARISON, 'cases', name), join(target, name), { recursive: true });
    const file = join(target, name, 'case.json');
    const content = JSON.parse(readFileSync(file, 'utf8')) as {
      default_args?: boolean;
      args?: readonly string[];
    };
    if (content.default_args === false) rmSync(join(target, name), { recursive: true });
    else {
      const args = [
        '--concurrency',
        values.workers,
        '--disable-hot-restart',
        ...(content.args ?? []),
      ];
      writeFileSync(file, JSON.stringify({ ...content, default_args: false, args }));
    }
  }
  return target;
}

function tool(...args: readonly string[]): void {
  const { stderr, error } = spawnSync(join(COMPARISON, 'compare'), args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (stderr !== '') console.error(stderr);
}
