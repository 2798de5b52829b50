/** How the variables of a script are called in the JavaScript that is made of it. */
import type { Expression, Variable } from './syntax.ts';

export function nameOf(variable: Variable): string {
  return `v${variable.id}`;
}

/** Kept in an object, since closures share what becomes of it. */
export function isCell(variable: Variable): boolean {
  return variable.isCaptured && variable.isAssigned;
}

export function valueOf(variable: Variable): string {
  return isCell(variable) ? `${nameOf(variable)}.v` : nameOf(variable);
}

export function isMulti({ kind }: Expression): boolean {
  return kind === 'call' || kind === 'vararg';
}

export function declared(variable: Variable, value: string): string {
  return `${nameOf(variable)} = ${isCell(variable) ? `{v: ${value}}` : value};`;
}

export function numbered(letter: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_each, index) => `${letter}${index + 1}`);
}
