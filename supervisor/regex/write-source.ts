/**
 * Writes a regular expression for V8 from its tree. Nothing of the user's text is passed through:
 * `\s`, `.`, `$`, `\z`, `(?P<n>`, POSIX classes and case folding mean different things there, so each is
 * written out as classes and anchors that mean the same.
 */
import { negated, setOf } from './byte-set.ts';
import { hasCapture, isNullable } from './tree-facts.ts';
import { FOLD_CASE, NON_GREEDY, type ByteSet, type RegexNode } from './tree.ts';

/** Undefined when V8 has no way to say it. Without captures the groups are written as `(?:...)`. */
export function writeSource(root: RegexNode, captures: boolean): string | undefined {
  return fitsV8(root, captures) ? write(root, captures) : undefined;
}

/**
 * V8 takes `\r` for a line end under its `m` flag, and its captures forget a repetition's earlier
 * rounds; a loop over something that may be empty can also prefer another match than RE2 does.
 */
function fitsV8(node: RegexNode, captures: boolean): boolean {
  switch (node.op) {
    case 'begin_line':
    case 'end_line':
      return false;
    case 'star':
    case 'plus':
    case 'repeat':
      if (captures && (hasCapture(node.sub) || isNullable(node.sub))) return false;
      return fitsV8(node.sub, captures);
    case 'quest':
    case 'capture':
      return fitsV8(node.sub, captures);
    case 'concat':
    case 'alternate':
      return node.subs.every((sub) => fitsV8(sub, captures));
    default:
      return true;
  }
}

function write(node: RegexNode, captures: boolean): string {
  switch (node.op) {
    case 'empty':
      return '(?:)';
    case 'nothing':
      return writeClass([]);
    case 'any':
      return writeClass([[0, 255]]);
    case 'literal':
      return writeLiteral(node.text, (node.flags & FOLD_CASE) !== 0);
    case 'class':
      return writeClass(node.set);
    case 'capture':
      return `(${captures ? '' : '?:'}${write(node.sub, captures)})`;
    case 'concat':
      return node.subs.map((sub) => writeOperand(sub, captures)).join('');
    case 'alternate':
      return `(?:${node.subs.map((sub) => write(sub, captures)).join('|')})`;
    case 'star':
    case 'plus':
    case 'quest':
    case 'repeat':
      return writeRepetition(node, captures);
    default:
      return writeAnchor(node.op);
  }
}

function writeOperand(node: RegexNode, captures: boolean): string {
  const source = write(node, captures);
  return node.op === 'concat' ? `(?:${source})` : source;
}

type Repetition = Extract<RegexNode, { readonly op: 'star' | 'plus' | 'quest' | 'repeat' }>;

function writeRepetition(node: Repetition, captures: boolean): string {
  const { sub } = node;
  const isAtom = sub.op === 'class' || sub.op === 'any' || isSingleByte(sub);
  const operand = isAtom ? write(sub, captures) : `(?:${write(sub, captures)})`;
  const lazy = (node.flags & NON_GREEDY) === 0 ? '' : '?';
  if (node.op !== 'repeat') return operand + { star: '*', plus: '+', quest: '?' }[node.op] + lazy;
  return operand + counted(node.min, node.max) + lazy;
}

function counted(min: number, max: number): string {
  if (max === -1) return min === 0 ? '*' : `{${min},}`;
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function isSingleByte(node: RegexNode): boolean {
  return node.op === 'literal' && node.text.length === 1;
}

function writeLiteral(text: string, foldCase: boolean): string {
  let source = '';
  for (const character of text) {
    const byte = character.charCodeAt(0);
    if (!foldCase || !/[A-Za-z]/.test(character)) {
      source += escapeByte(byte);
      continue;
    }
    source += writeClass(setOf(byte, true));
  }
  return source;
}

function writeClass(set: ByteSet): string {
  const complement = negated(set);
  return complement.length < set.length ? `[^${writeRanges(complement)}]` : `[${writeRanges(set)}]`;
}

function writeRanges(set: ByteSet): string {
  return set
    .map(([first, last]) =>
      first === last ? escapeByte(first) : `${escapeByte(first)}-${escapeByte(last)}`,
    )
    .join('');
}

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9/_]/.test(character) && character !== '/') return character;
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

function writeAnchor(op: Exclude<RegexNode['op'], 'literal' | 'class'>): string {
  switch (op) {
    case 'begin_text':
      return '^';
    case 'end_text':
      return '$';
    case 'word_boundary':
      return '\\b';
    case 'not_word_boundary':
      return '\\B';
    default:
      throw new Error(`${op} is no anchor of V8`);
  }
}
