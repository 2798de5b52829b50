/**
 * Compiles a tree to the program that `shared/regex/linear/` runs, and writes it as text: the first
 * node and the number of groups, the classes, then one piece for each node. A node that leads to
 * the one behind it does not say so.
 */
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NOT_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from '../../shared/regex/linear/program.ts';
import type { ParsedRegex } from './parse.ts';
import { compileProgram, type Instruction } from './program.ts';
import { simplify } from './simplify.ts';
import type { ByteSet, EmptyWidthOp } from './tree.ts';

/** Throws RangeError for a pattern that RE2 would call too large. */
export function writeProgram(
  { root, captures }: ParsedRegex,
  purpose: 'match' | 'replace',
): string {
  const { instructions, start } = compileProgram(simplify(root), {
    anchoredAtStart: true,
    purpose,
  });
  const sets = new Map<string, number>();
  const nodes = instructions.map((instruction, index) => writeNode(instruction, index, sets));
  const groups = purpose === 'replace' ? captures : 0;
  return [`${number(start)}.${number(groups)}`, [...sets.keys()].join(','), ...nodes].join(';');
}

const CONDITIONS: Record<EmptyWidthOp, number> = {
  begin_line: BEGIN_LINE,
  end_line: END_LINE,
  begin_text: BEGIN_TEXT,
  end_text: END_TEXT,
  word_boundary: WORD_BOUNDARY,
  not_word_boundary: NOT_WORD_BOUNDARY,
};

function writeNode(instruction: Instruction, index: number, sets: Map<string, number>): string {
  const { op, out, out1, set = [], condition = 'begin_text', slot = 0 } = instruction;
  const onward = out === index + 1 ? '' : `.${number(out)}`;
  switch (op) {
    case 'leaf':
    case 'any_byte':
      return `s${number(numberOf(set, sets))}${onward}`;
    case 'alt':
      return `a${number(out)}${out1 === index + 1 ? '' : `.${number(out1)}`}`;
    case 'empty':
      return `e${number(CONDITIONS[condition])}${onward}`;
    case 'capture':
      return `c${number(slot)}${onward}`;
    case 'nop':
      return `j${onward.slice(1)}`;
    case 'match':
      return 'm';
    case 'fail':
      return 'f';
  }
}

function numberOf(set: ByteSet, sets: Map<string, number>): number {
  const text = set.map(([first, last]) => hex(first) + hex(last)).join('');
  const known = sets.get(text) ?? sets.size;
  sets.set(text, known);
  return known;
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

function number(value: number): string {
  return value.toString(36);
}
