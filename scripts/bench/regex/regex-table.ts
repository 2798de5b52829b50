/**
 * Prints what regular expressions take: RE2 (of python's package google-re2, when the interpreter
 * named by SLUICE_BENCH_PYTHON has it), Sluice, and re2js. Run it as `npm run bench:regex`. Figures
 * are medians of CPU time; what counts is the ratio to RE2.
 */
import { spawnSync } from 'node:child_process';
import { RE2JS } from 're2js';
import { makeRegexRunner } from '../../../shared/regex/run-regex.ts';
import { compileRegex } from '../../../supervisor/regex/compile-regex.ts';
import { median } from '../support/median.ts';
import { QUESTIONS, type RegexQuestion } from './questions.ts';
import { RE2_PROGRAM } from './re2-program.ts';

const ROUNDS = 5;
const ROUND_NS = 2_000_000;

/** Nanoseconds of one call. */
function timeOf(work: () => unknown): number {
  const figures: number[] = [];
  let calls = 1;
  for (let round = -1; round < ROUNDS;) {
    const started = process.hrtime.bigint();
    for (let call = 0; call < calls; call++) work();
    const taken = Number(process.hrtime.bigint() - started);
    if (taken < ROUND_NS && calls < 1e6) {
      calls *= 2;
      continue;
    }
    if (round >= 0) figures.push(taken / calls);
    round += 1;
  }
  return median(figures);
}

function timeOfSluice({ pattern, text, way }: RegexQuestion): number {
  const result = compileRegex(pattern, { use: way === 'replace' ? 'replace' : 'match' });
  if (!result.ok) throw new Error(result.error);
  const runner = makeRegexRunner(result.regex);
  switch (way) {
    case 'whole':
      return timeOf(() => runner.test(text));
    case 'part':
      return timeOf(() => runner.search(text));
    case 'replace':
      return timeOf(() => runner.replaceAll(text, '<\\0>'));
  }
}

function timeOfRe2js({ pattern, text, way }: RegexQuestion): number {
  const regex = RE2JS.compile(pattern);
  switch (way) {
    case 'whole':
      return timeOf(() => regex.matches(text));
    case 'part':
      return timeOf(() => regex.matcher(text).find());
    case 'replace':
      return timeOf(() => regex.matcher(text).replaceAll('<$0>'));
  }
}

/** Nanoseconds by question, or undefined without RE2. */
function timesOfRe2(): readonly number[] | undefined {
  const python = process.env['SLUICE_BENCH_PYTHON'] ?? 'python3';
  const input = JSON.stringify(QUESTIONS.map(({ pattern, text, way }) => [pattern, text, way]));
  const { status, stdout } = spawnSync(python, ['-c', RE2_PROGRAM], { input, encoding: 'utf8' });
  return status === 0 ? (JSON.parse(stdout) as number[]) : undefined;
}

const re2 = timesOfRe2();
const columns = ['µs: sluice', 're2', 're2js', 'sluice/re2'].map((name) => name.padStart(11));
console.log([...columns, ' way      bytes  question'].join(''));
const shown = (ns: number | undefined): string =>
  (ns === undefined ? '-' : (ns / 1000).toFixed(2)).padStart(11);
QUESTIONS.forEach((question, index) => {
  const { name, text, way } = question;
  const sluice = timeOfSluice(question);
  const theirs = re2?.[index];
  const port = question.isSlowForPort === true ? undefined : timeOfRe2js(question);
  const ratio = theirs === undefined ? '-' : (sluice / theirs).toFixed(2);
  const isOver = theirs !== undefined && sluice > Math.max(50_000, 5 * theirs);
  console.log(
    [shown(sluice), shown(theirs), shown(port), ratio.padStart(11)].join('') +
      ` ${way.padEnd(7)} ${String(text.length).padStart(6)}  ${name}${isOver ? '  OVER' : ''}`,
  );
});
