/**
 * Refuses plain objects as dictionaries: an object literal inherits `constructor` and `toString`,
 * so what is looked up in it by a name from outside is there although nobody put it there. Names
 * from outside are keys of a Map, or of a Dictionary (shared/text/dictionary.ts) where an object is
 * wanted.
 *
 * It looks for types whose keys are any text, `Record<string, …>` and index signatures, for
 * `Object.fromEntries`, whose result has such a type, and for `in` with a name that is no literal. What
 * records-allowed.ts names, with its reason, may stay; an entry that nothing needs any more is
 * refused too.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDS_ALLOWED } from './records-allowed.ts';

const FORMS: readonly RegExp[] = [
  /\bRecord<\s*string\b/g,
  /(?<=[{;\s])(?:readonly )?\[\s*\w+\s*:\s*string\s*\]\s*:/g,
  /\bObject\.fromEntries\b/g,
  /\bObject\.assign\(\s*\{/g,
  /(?<=[(&|!?:=,]\s*|\breturn )(?!Symbol\.)[a-zA-Z_][\w.]* in [a-zA-Z_]/g,
];

const COMMENT_OR_TEXT =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** Lines, from 1, at which a source has one of the forms. */
export function recordsIn(source: string): readonly number[] {
  const code = source.replace(COMMENT_OR_TEXT, (text) => text.replace(/[^\n]/g, ' '));
  return FORMS.flatMap((form) => [...code.matchAll(form)])
    .map(({ index }) => code.slice(0, index).split('\n').length)
    .sort((left, right) => left - right);
}

/** One line for each place that has no reason, and for each reason that has no place. */
export function recordProblems(projectRoot: string, files: readonly string[]): readonly string[] {
  return files.flatMap((file) => {
    const lines = recordsIn(readFileSync(join(projectRoot, file), 'utf8'));
    const [, count] = RECORDS_ALLOWED.get(file) ?? ['', 0];
    if (lines.length === count) return [];
    const places = lines.length === 0 ? 'none' : `lines ${lines.join(', ')}`;
    return [
      `${file}: ${lines.length} plain objects keyed by any text (${places}), ${count} allowed: ` +
        'use a Map or a Dictionary, or state in scripts/records-allowed.ts why not',
    ];
  });
}

if (import.meta.filename === process.argv[1]) {
  const root = join(import.meta.dirname, '../..');
  const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = tracked
    .split('\n')
    .filter((file) => /^(src|supervisor|workers|shared)\/.*\.ts$/.test(file));
  const gone = [...RECORDS_ALLOWED.keys()].filter((file) => !files.includes(file));
  const problems = [
    ...recordProblems(root, files),
    ...gone.map(
      (file) => `${file}: allowed in scripts/records-allowed.ts, but there is no such file`,
    ),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}
