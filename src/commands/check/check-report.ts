/** What `sluice check` prints of the files that it looked at. */
import { formatProblem } from '../../../supervisor/config/config-error.ts';
import type { Problem } from '../../../supervisor/config/problem.ts';
import { jsonReport, renderReport } from '../../../supervisor/validation/report.ts';
import { lossesOf, VERDICTS, type Verdict } from '../../../supervisor/validation/verdict.ts';
import type { CheckFormat } from './check-arguments.ts';

export interface CheckedFile {
  readonly path: string;
  readonly verdict: Verdict;
  readonly problems: readonly Problem[];
}

/** The column in which file names begin. */
const NAME_COLUMN = Math.max(...VERDICTS.map((verdict) => verdict.length)) + 2;

/** The whole document, or in text form what comes after the lines of `fileLines`. */
export function closingReport(format: CheckFormat, files: readonly CheckedFile[]): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(jsonDocument(files), undefined, 2)}\n`;
    case 'sarif':
      return renderReport('sarif', {
        configPath: '',
        problems: files.flatMap(({ problems }) => problems),
      });
    case 'text':
      return summaryLines(files).join('');
  }
}

/** In text form: a file with what is said of it, printed as soon as it was looked at. */
export function fileLines({ path, verdict, problems }: CheckedFile): string {
  const lines = problems.map((problem) => `  ${problem.severity}: ${formatProblem(problem)}\n`);
  return `${verdict.padEnd(NAME_COLUMN)}${path}\n${lines.join('')}`;
}

function summaryLines(files: readonly CheckedFile[]): string[] {
  const counts = VERDICTS.map((verdict) => [verdict, countOf(files, verdict)] as const);
  const named = counts.filter(([, count]) => count > 0).map(([verdict, n]) => `${n} ${verdict}`);
  const lines = [`${files.length} ${plural(files.length)}: ${named.join(', ')}\n`];
  for (const [feature, count] of lostFeatures(files)) {
    lines.push(`  lost in ${count} ${plural(count)}: ${feature}\n`);
  }
  return lines;
}

function jsonDocument(files: readonly CheckedFile[]): object {
  return {
    files: files.map(({ path, verdict, problems }) => ({
      verdict,
      loses: lossesOf(problems),
      ...jsonReport({ configPath: path, problems }),
    })),
    summary: {
      ok: countOf(files, 'ok'),
      loses: countOf(files, 'loses'),
      unsupported: countOf(files, 'unsupported'),
      invalid: countOf(files, 'invalid'),
      unreadable: countOf(files, 'unreadable'),
      lost: lostFeatures(files).map(([feature, count]) => ({ feature, files: count })),
    },
  };
}

/** Most frequent first. */
function lostFeatures(files: readonly CheckedFile[]): [feature: string, files: number][] {
  const counts = new Map<string, number>();
  for (const { problems } of files) {
    for (const feature of lossesOf(problems)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function countOf(files: readonly CheckedFile[], verdict: Verdict): number {
  return files.filter((file) => file.verdict === verdict).length;
}

function plural(count: number): string {
  return count === 1 ? 'file' : 'files';
}
