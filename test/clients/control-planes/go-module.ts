/**
 * Modules of Go as files that can be written to: what others publish to be run in their own tree.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN } from '../../support/programs/sluice.ts';
import type { Scratch } from '../../support/scratch.ts';

/** Puts the module's files into `folder`; what is wrong, or undefined. */
export function copyModule(module: string, folder: string): string | undefined {
  const run = spawnSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' });
  if (run.status !== 0) return run.stdout + run.stderr;
  const { Dir: from } = JSON.parse(run.stdout) as { readonly Dir: string };
  cpSync(from, folder, { recursive: true });
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
  return undefined;
}

/** A program that starts this server, for those who start one by its path. */
export function writeServerProgram(scratch: Scratch, path: string): void {
  writeFileSync(scratch.file(path), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(scratch.file(path), 0o755);
}
