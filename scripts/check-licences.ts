/**
 * Checks the licences of everything that is installed with Sluice: the production dependencies of
 * package-lock.json, nested and optional ones included. Exits with 1 and the names of those whose
 * licence is not allowed or not stated.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const allowed = new Set(['MIT', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'Apache-2.0', '0BSD']);

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
}

interface Manifest {
  readonly license?: string | { readonly type?: string };
}

/** One line for each package that must not be shipped. */
export function licenceProblems(projectRoot: string): string[] {
  const lock = readJson<{ packages?: Record<string, LockedPackage> }>(
    join(projectRoot, 'package-lock.json'),
  );
  if (lock?.packages === undefined) return ['cannot read package-lock.json'];
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && entry.dev !== true && entry.devOptional !== true)
    .map(([path, entry]) => ({ path, licence: licenceOf(projectRoot, path, entry) }))
    .filter(({ licence }) => !isAllowed(licence))
    .map(({ path, licence }) => `${path.replace(/^.*node_modules\//, '')}: ${licence}`);
}

/** The installed manifest counts; a package for another platform has only its lock entry. */
function licenceOf(projectRoot: string, path: string, entry: LockedPackage): string {
  const stated = readJson<Manifest>(join(projectRoot, path, 'package.json'))?.license;
  const text = typeof stated === 'object' ? stated.type : stated;
  return text ?? entry.license ?? 'no licence stated';
}

/** An expression of alternatives is allowed when one of them is, a conjunction when all are. */
export function isAllowed(expression: string): boolean {
  const words = expression.replace(/[()]/g, '');
  return words
    .split(' OR ')
    .some((alternative) => alternative.split(' AND ').every((name) => allowed.has(name.trim())));
}

function readJson<Shape>(path: string): Shape | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Shape;
  } catch {
    return undefined;
  }
}

if (process.argv[1] === import.meta.filename) {
  const problems = licenceProblems(join(import.meta.dirname, '..', '..'));
  for (const problem of problems) console.error(`licence not allowed: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
