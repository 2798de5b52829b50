/** What can be said of a tree by looking at it. */
import { setOf } from './byte-set.ts';
import { ANYTHING, firstOf, NO_BYTES, union, type FirstBytes } from './first-bytes.ts';
import { FOLD_CASE, type ByteSet, type RegexNode } from './tree.ts';

export function hasCapture(node: RegexNode): boolean {
  if (node.op === 'capture') return true;
  if ('sub' in node) return hasCapture(node.sub);
  return 'subs' in node && node.subs.some(hasCapture);
}

/** Whether it can match without consuming anything. */
export function isNullable(node: RegexNode): boolean {
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

/** Whether nothing but the text's beginning can come first. */
export function beginsWithText(node: RegexNode): boolean {
  if (node.op === 'begin_text') return true;
  if (node.op === 'capture') return beginsWithText(node.sub);
  const [first] = node.op === 'concat' ? node.subs : [];
  return first !== undefined && beginsWithText(first);
}

/** How many nodes and bytes a tree has with its fixed counts written out. */
export function sizeOfTree(node: RegexNode): number {
  if ('sub' in node) {
    const count = node.op === 'repeat' ? Math.max(node.min, node.max, 1) : 1;
    return 1 + count * sizeOfTree(node.sub);
  }
  if ('subs' in node) return node.subs.reduce((sum, sub) => sum + sizeOfTree(sub), 1);
  return node.op === 'literal' ? node.text.length : 1;
}

type Literal = Extract<RegexNode, { readonly op: 'literal' }>;

/** The classes of bytes that a literal takes one after the other. */
export function setsOf(node: Literal): readonly ByteSet[] {
  const foldCase = (node.flags & FOLD_CASE) !== 0;
  return Array.from(node.text, (character) => setOf(character.charCodeAt(0), foldCase));
}

/** The class of a node that takes exactly one byte. */
export function singleSet(node: RegexNode): ByteSet | undefined {
  switch (node.op) {
    case 'any':
      return ALL_BYTES;
    case 'class':
      return node.set;
    case 'literal':
      return node.text.length === 1 ? setsOf(node)[0] : undefined;
    default:
      return undefined;
  }
}

export const ALL_BYTES: ByteSet = [[0, 255]];

/** Whether a class has every byte, or every one but the line feed. */
export function takesEveryByte(set: ByteSet, exceptLineFeed: boolean): boolean {
  const first = firstOf(set);
  if (exceptLineFeed) first[0] = (first[0] ?? 0) | (1 << 10);
  return first.every((word, index) => index === first.length - 1 || word === ANYTHING[index]);
}

/** What a node can begin with; where it may be empty, what comes after it counts too. */
export function firstBytes(node: RegexNode, after: FirstBytes = NO_BYTES): FirstBytes {
  switch (node.op) {
    case 'nothing':
      return NO_BYTES;
    case 'any':
      return firstOf(ALL_BYTES);
    case 'class':
      return firstOf(node.set);
    case 'literal':
      return firstOf(firstSet(node));
    case 'capture':
      return firstBytes(node.sub, after);
    case 'concat':
      return node.subs.reduceRight((rest, sub) => firstBytes(sub, rest), after);
    case 'alternate':
      return node.subs.map((sub) => firstBytes(sub, after)).reduce(union);
    case 'star':
    case 'plus':
    case 'quest':
    case 'repeat': {
      const begin = firstBytes(node.sub, after);
      return canBeLeftOut(node) ? union(begin, after) : begin;
    }
    default:
      return after;
  }
}

function firstSet(node: Literal): ByteSet {
  return setsOf({ ...node, text: node.text.charAt(0) })[0] ?? [];
}

function canBeLeftOut(node: RegexNode): boolean {
  return node.op === 'repeat' ? node.min === 0 : node.op !== 'plus';
}
