/** Writes small files that others wait for, whole or not at all. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * A temporary file beside it takes the file's place, so that a reader never sees half of it.
 * Returns the reason when it cannot be written.
 */
export function writeFileWhole(path: string, text: string): string | undefined {
  const temporary = `${path}.${process.pid}`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, path);
    return undefined;
  } catch (error) {
    rmSync(temporary, { force: true });
    return (error as Error).message;
  }
}
