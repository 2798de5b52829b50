/** Files of modules as JavaScript. */
import { join } from 'node:path';
import { builtRoot } from '../../shared/process/built-root.ts';
import { isStripError, stripTypesOf } from '../../shared/scripts/type-stripper.ts';
import { ModuleFault } from './module-fault.ts';

/** Throws `ModuleFault`. */
export function stripTypes(path: string, source: string): string {
  if (!/\.m?ts$/.test(path)) return source;
  try {
    return stripTypesOf(source, path, join(builtRoot, 'main.js'));
  } catch (error) {
    if (!isStripError(error)) throw error;
    throw new ModuleFault(error.message, {
      source: path,
      line: error.startLine,
      column: error.startColumn + 1,
    });
  }
}
