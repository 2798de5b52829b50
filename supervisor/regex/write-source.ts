/**
 * Writes a regular expression anew from its tree, for V8 or for re2js. Nothing of the user's text
 * is passed through: `\s`, `.`, `$`, `\z`, `(?P<n>`, POSIX classes and case folding mean different
 * things in the three dialects, so each is written out as classes and anchors that mean the same.
 */
import { ByteSetBuilder, negated } from './byte-set.ts';
import { FOLD_CASE, NON_GREEDY, type ByteSet, type RegexNode } from './tree.ts';

export interface SourceOptions {
  readonly dialect: 'v8' | 're2js';
  /** Without captures the groups are written as `(?:...)`. */
  readonly captures: boolean;
}

/** Undefined when the dialect has no way to say it. */
export function writeSource(root: RegexNode, options: SourceOptions): string | undefined {
  if (options.dialect === 'v8' && !fitsV8(root, options.captures)) return undefined;
  return write(root, options);
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

function hasCapture(node: RegexNode): boolean {
  if (node.op === 'capture') return true;
  if ('sub' in node) return hasCapture(node.sub);
  return 'subs' in node && node.subs.some(hasCapture);
}

/** Whether it can match without consuming anything. */
function isNullable(node: RegexNode): boolean {
  switch (node.op) {
    case 'literal':
    case 'class':
    case 'any':
    case 'nothing':
      return false;
    case 'plus':
    case 'capture':
      return isNullable(node.sub);
    case 'repeat':
      return node.min === 0 || isNullable(node.sub);
    case 'concat':
      return node.subs.every(isNullable);
    case 'alternate':
      return node.subs.some(isNullable);
    default:
      return true;
  }
}

function write(node: RegexNode, options: SourceOptions): string {
  switch (node.op) {
    case 'empty':
      return '(?:)';
    case 'nothing':
      return writeClass([], options);
    case 'any':
      return writeClass([[0, 255]], options);
    case 'literal':
      return writeLiteral(node.text, (node.flags & FOLD_CASE) !== 0, options);
    case 'class':
      return writeClass(node.set, options);
    case 'capture':
      return `(${options.captures ? '' : '?:'}${write(node.sub, options)})`;
    case 'concat':
      return node.subs.map((sub) => writeOperand(sub, options)).join('');
    case 'alternate':
      return `(?:${node.subs.map((sub) => write(sub, options)).join('|')})`;
    case 'star':
    case 'plus':
    case 'quest':
    case 'repeat':
      return writeRepetition(node, options);
    default:
      return writeAnchor(node.op, options);
  }
}

function writeOperand(node: RegexNode, options: SourceOptions): string {
  const source = write(node, options);
  return node.op === 'concat' ? `(?:${source})` : source;
}

type Repetition = Extract<RegexNode, { readonly op: 'star' | 'plus' | 'quest' | 'repeat' }>;

function writeRepetition(node: Repetition, options: SourceOptions): string {
  const { sub } = node;
  const isAtom = sub.op === 'class' || sub.op === 'any' || isSingleByte(sub);
  const operand = isAtom ? write(sub, options) : `(?:${write(sub, options)})`;
  const lazy = (node.flags & NON_GREEDY) === 0 ? '' : '?';
  if (node.op !== 'repeat') return operand + { star: '*', plus: '+', quest: '?' }[node.op] + lazy;
  if (options.dialect === 'v8' && isAtom) return writeInSteps(operand, node, lazy);
  return operand + counted(node.min, node.max) + lazy;
}

/** V8's linear engine takes no count above this, but several counts in a row. */
const STEP = 16;

function writeInSteps(
  operand: string,
  { min, max }: Extract<Repetition, { readonly op: 'repeat' }>,
  lazy: string,
): string {
  const steps: string[] = [];
  let least = min;
  let most = max === -1 ? Number.POSITIVE_INFINITY : max;
  while (least > STEP || (most > STEP && most !== Number.POSITIVE_INFINITY)) {
    const low = Math.min(least, STEP);
    steps.push(operand + counted(low, STEP) + lazy);
    least -= low;
    most -= STEP;
  }
  const isOpen = most === Number.POSITIVE_INFINITY;
  if (isOpen || most > 0) steps.push(operand + counted(least, isOpen ? -1 : most) + lazy);
  return steps.length === 1 ? steps.join('') : `(?:${steps.join('')})`;
}

function counted(min: number, max: number): string {
  if (max === -1) return min === 0 ? '*' : `{${min},}`;
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

function isSingleByte(node: RegexNode): boolean {
  return node.op === 'literal' && node.text.length === 1;
}

function writeLiteral(text: string, foldCase: boolean, options: SourceOptions): string {
  let source = '';
  for (const character of text) {
    const byte = character.charCodeAt(0);
    if (!foldCase || !/[A-Za-z]/.test(character)) {
      source += escapeByte(byte);
      continue;
    }
    const builder = new ByteSetBuilder();
    builder.addRange(byte, byte, true);
    source += writeClass(builder.build(), options);
  }
  return source;
}

function writeClass(set: ByteSet, { dialect }: SourceOptions): string {
  const complement = negated(set);
  if (dialect === 'v8') {
    return complement.length < set.length
      ? `[^${writeRanges(complement)}]`
      : `[${writeRanges(set)}]`;
  }
  // An empty class has no form of its own in RE2 syntax.
  return set.length === 0 ? '[^\\x00-\\x{10FFFF}]' : `[${writeRanges(set)}]`;
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

function writeAnchor(
  op: Exclude<RegexNode['op'], 'literal' | 'class'>,
  { dialect }: SourceOptions,
): string {
  switch (op) {
    case 'begin_text':
      return dialect === 'v8' ? '^' : '\\A';
    case 'end_text':
      return dialect === 'v8' ? '$' : '\\z';
    case 'begin_line':
      return '(?m:^)';
    case 'end_line':
      return '(?m:$)';
    case 'word_boundary':
      return '\\b';
    case 'not_word_boundary':
      return '\\B';
    default:
      throw new Error(`${op} is no anchor`);
  }
}
