/** How strongly the binary operators bind. */
import type { Token } from './lexer.ts';

/** Binary operators: what binds to the left and to the right. */
const PRIORITIES: ReadonlyMap<string, readonly [number, number]> = new Map<
  string,
  readonly [number, number]
>([
  ['+', [6, 6]],
  ['-', [6, 6]],
  ['*', [7, 7]],
  ['/', [7, 7]],
  ['%', [7, 7]],
  ['^', [10, 9]],
  ['..', [5, 4]],
  ['==', [3, 3]],
  ['~=', [3, 3]],
  ['<', [3, 3]],
  ['<=', [3, 3]],
  ['>', [3, 3]],
  ['>=', [3, 3]],
  ['and', [2, 2]],
  ['or', [1, 1]],
]);
const NO_PRIORITY = [0, 0] as const;

/** Binds nothing where it is no operator. */
export function priorityOf({ kind, text }: Token): readonly [number, number] {
  return (kind === 'word' ? PRIORITIES.get(text) : undefined) ?? NO_PRIORITY;
}
