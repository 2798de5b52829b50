/** Reads small files of the system at once: what is not there, or may not be read, is undefined. */
import { readFileSync } from 'node:fs';

export function readTextIfThere(
  path: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): string | undefined {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}
