/** A folder of somebody else's, with this package installed, and programs that run there. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeScratch, type Scratch } from '../scratch.ts';
import { WAIT_LIMIT_MS } from '../wait.ts';

export const PACKAGE_ROOT = join(import.meta.dirname, '..', '..', '..', '..');

const execute = promisify(execFile);

/** Rejects when the program fails, with what it wrote. */
export async function runFile(
  file: string,
  args: readonly string[],
  cwd?: string,
): Promise<{ stdout: string }> {
  // What runs this process runs no part of it.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return await execute(file, args, { timeout: WAIT_LIMIT_MS, killSignal: 'SIGKILL', cwd, env });
}

export function consumer(files: Readonly<Record<string, string>>): Scratch {
  const scratch = makeScratch();
  install(scratch.path);
  for (const [name, text] of Object.entries(files)) writeFileSync(scratch.file(name), text);
  return scratch;
}

/** The package, and the types of the runtime. */
export function install(folder: string): void {
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  symlinkSync(PACKAGE_ROOT, join(folder, 'node_modules', 'sluice'));
  symlinkSync(
    join(PACKAGE_ROOT, 'node_modules', '@types', 'node'),
    join(folder, 'node_modules', '@types', 'node'),
  );
}
