/**
 * Refuses TypeScript's `private` for members of classes: `#name` is private at run time too, and costs
 * nothing that could be measured (scripts/bench/README.md). Constructors have no other way, and stay.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PRIVATE = /^\s+private (?!constructor\b)/;

/** Lines, from 1, that declare a member so. */
export function privateMembersIn(source: string): readonly number[] {
  return source.split('\n').flatMap((line, index) => (PRIVATE.test(line) ? [index + 1] : []));
}

if (import.meta.filename === process.argv[1]) {
  const root = join(import.meta.dirname, '../../..');
  const listed = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' });
  const problems = listed.split('\n').flatMap((file) => {
    if (!/^(src|supervisor|workers|shared|scripts)\//.test(file)) return [];
    const lines = privateMembersIn(readFileSync(join(root, file), 'utf8'));
    return lines.map((line) => `${file}:${line}: write #name in place of private`);
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
}
