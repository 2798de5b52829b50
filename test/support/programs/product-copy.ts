/**
 * The built product in a folder of a test, which may change its files: the packed program and what
 * it reads, without the modules that went into it.
 */
import { cpSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MAIN } from './sluice.ts';

const projectRoot = join(dirname(MAIN), '..', '..');

/** Returns its main file. */
export function copyProduct(folder: string): string {
  const dist = join(folder, 'dist');
  const parts = ['src', 'supervisor', 'workers', 'shared'];
  const filter = (path: string): boolean => !path.endsWith('.map') && !isModule(path);
  for (const part of parts) {
    cpSync(join(projectRoot, 'dist', part), join(dist, part), { recursive: true, filter });
  }
  for (const link of ['node_modules', 'package.json']) {
    symlinkSync(join(projectRoot, link), join(folder, link));
  }
  return join(dist, 'src', 'main.js');
}

function isModule(path: string): boolean {
  return path.endsWith('.js') && path !== MAIN;
}
