/** Recorded answers of Envoy, and the differences that are meant. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Facts } from './case.ts';

/** The source folder: golden files are data and are not copied to dist. */
const CONFORMANCE_FOLDER = join(import.meta.dirname, '../../../test/conformance');

export function goldenPath(name: string): string {
  return join(CONFORMANCE_FOLDER, 'golden', `${name}.json`);
}

export function readGolden(name: string): Facts {
  return JSON.parse(readFileSync(goldenPath(name), 'utf8')) as Facts;
}

export interface IntendedDifference {
  readonly case: string;
  /** The label of the question, or the name of the fact in the full comparison. */
  readonly fact: string;
  readonly kind: 'differs' | 'missing' | 'extra';
  /** What Sluice says. */
  readonly ours: unknown;
  readonly reason: string;
}

export function readIntended(): readonly IntendedDifference[] {
  const path = join(CONFORMANCE_FOLDER, 'intended.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { differences: IntendedDifference[] })
    .differences;
}
