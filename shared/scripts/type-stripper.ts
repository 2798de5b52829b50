/**
 * TypeScript becomes JavaScript: types turn into blanks, so that each line and column stays where it
 * was. What needs code of its own (enums, namespaces, parameter properties) is refused.
 */
import { createRequire } from 'node:module';

interface Stripper {
  transformSync(source: string, options: object): { readonly code: string };
}

/** What is thrown for a source that cannot be stripped. */
export interface StripError {
  readonly message: string;
  /** From 1. */
  readonly startLine: number;
  /** From 0. */
  readonly startColumn: number;
}

let stripper: Stripper | undefined;

/** `from`: a file of this package. */
export function stripTypesOf(source: string, path: string, from: string | URL): string {
  // In CommonJS, and only there when a module is written in TypeScript: it takes 30 ms to load.
  stripper ??= createRequire(from)('@swc/wasm-typescript') as Stripper;
  return stripper.transformSync(source, { mode: 'strip-only', filename: path }).code;
}

export function isStripError(error: unknown): error is StripError {
  return typeof error === 'object' && error !== null && 'startLine' in error && 'message' in error;
}
