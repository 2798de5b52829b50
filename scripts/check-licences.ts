/**
 * Checks the licences of everything that is installed with Sluice: the production dependencies of
 * package-lock.json, nested and optional ones included. Exits with 1 and the names of those whose
 * licence is not allowed or not stated.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const allowed = new Set([
  'MIT',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'Apache-2.0',
  '0BSD',
  // As permissive as MIT; pako, which hdr-histogram-js brings, contains zlib's own files.
  'Zlib',
]);

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
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
  const problems: string[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path === '' || entry.dev === true || entry.devOptional === true) continue;
    const manifest = readJson<Manifest>(join(projectRoot, path, 'package.json'));
    const licence = licenceOf(manifest, entry);
    // A lock file may say nothing of a package for other platforms; the check there sees it.
    if (manifest === undefined && licence === undefined && entry.optional === true) continue;
    if (licence === undefined) problems.push(`${nameOf(path)}: no licence stated`);
    else if (!isAllowed(licence)) problems.push(`${nameOf(path)}: ${licence}`);
  }
  return problems;
}

/** The installed manifest counts; a package for another platform has only its lock entry. */
function licenceOf(manifest: Manifest | undefined, entry: LockedPackage): string | undefined {
  const stated = manifest?.license;
  return (typeof stated === 'object' ? stated.type : stated) ?? entry.license;
}

function nameOf(path: string): string {
  return path.replace(/^.*node_modules\//, '');
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
