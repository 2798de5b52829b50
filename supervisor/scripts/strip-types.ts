/**
 * TypeScript becomes JavaScript: types turn into blanks, so that each line and column stays where it
 * was. What needs code of its own (enums, namespaces, parameter properties) is refused.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { builtRoot } from '../../shared/process/built-root.ts';
import { ModuleFault } from './module-fault.ts';

interface Stripper {
  transformSync(source: string, options: object): { readonly code: string };
}

interface StripError {
  readonly message: string;
  readonly startLine: number;
  readonly startColumn: number;
}

let stripper: Stripper | undefined;

/** Throws `ModuleFault`. */
export function stripTypes(path: string, source: string): string {
  if (!/\.m?ts$/.test(path)) return source;
  // In CommonJS, and only there when a module is written in TypeScript: it takes 30 ms to load.
  stripper ??= createRequire(join(builtRoot, 'main.js'))('@swc/wasm-typescript') as Stripper;
  try {
    return stripper.transformSync(source, { mode: 'strip-only', filename: path }).code;
  } catch (error) {
    if (!isStripError(error)) throw error;
    throw new ModuleFault(error.message, {
      source: path,
      line: error.startLine,
      column: error.startColumn + 1,
    });
  }
}

function isStripError(error: unknown): error is StripError {
  return typeof error === 'object' && error !== null && 'startLine' in error && 'message' in error;
}
