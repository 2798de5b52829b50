/** The comparison tool with its cases, which stands beside the project where it is there at all. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const PROJECT = join(import.meta.dirname, '..', '..');
export const COMPARISON = join(PROJECT, '..', 'shared', 'conformance');

/** Ends the process, and says why, where the tool is not there. */
export function needComparison(): void {
  if (existsSync(join(COMPARISON, 'compare'))) return;
  console.log('left out: the comparison tool is not beside the project (../shared/conformance)');
  process.exit(0);
}
