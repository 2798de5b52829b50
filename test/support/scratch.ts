/** A folder of its own for each test, removed when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scratch {
  readonly path: string;
  file(name: string): string;
  [Symbol.dispose](): void;
}

export function makeScratch(): Scratch {
  const path = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
