/**
 * Rewrites a tree as RE2 does before compiling: neighbours joined, counted repetitions written out.
 */
import { isOneCharacter } from './factor.ts';
import {
  concat,
  FOLD_CASE,
  isEmptyWidth,
  literal,
  isLazy,
  sameNode,
  type RegexNode,
} from './tree.ts';

export function simplify(root: RegexNode): RegexNode {
  return expand(coalesce(root));
}

type Repetition = Extract<RegexNode, { readonly op: 'star' | 'plus' | 'quest' | 'repeat' }>;

/** `a*a+` becomes `a{1,}`: a repetition takes in what repeats the same character behind it. */
function coalesce(node: RegexNode): RegexNode {
  if ('sub' in node) return { ...node, sub: coalesce(node.sub) };
  if (!('subs' in node)) return node;
  const subs = node.subs.map(coalesce);
  if (node.op !== 'concat') return { ...node, subs };
  let changed = false;
  for (let index = 0; index + 1 < subs.length; index++) {
    const joined = join(subs[index], subs[index + 1]);
    if (joined === undefined) continue;
    changed = true;
    subs.splice(index, 2, ...joined);
  }
  return { ...node, subs: changed ? subs.filter((sub) => sub.op !== 'empty') : subs };
}

/** What two neighbours become, or undefined when they stay as they are. */
function join(
  left: RegexNode | undefined,
  right: RegexNode | undefined,
): [RegexNode, RegexNode] | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (!isRepetition(left) || !isOneCharacter(left.sub)) return undefined;
  if (isRepetition(right) && sameNode(left.sub, right.sub) && isLazy(left) === isLazy(right)) {
    return [EMPTY, repeatedMore(left, ...bounds(right))];
  }
  if (sameNode(left.sub, right)) return [EMPTY, repeatedMore(left, 1, 1)];
  return joinLiteral(left, right);
}

function joinLiteral(left: Repetition, right: RegexNode): [RegexNode, RegexNode] | undefined {
  if (left.sub.op !== 'literal' || right.op !== 'literal') return undefined;
  const { text, flags } = left.sub;
  if (right.text[0] !== text || (flags & FOLD_CASE) !== (right.flags & FOLD_CASE)) return undefined;
  let count = 1;
  while (right.text[count] === text) count += 1;
  const repeated = repeatedMore(left, count, count);
  const rest = literal(right.text.slice(count), right.flags);
  return rest.op === 'empty' ? [EMPTY, repeated] : [repeated, rest];
}

const EMPTY: RegexNode = { op: 'empty', flags: 0 };

function repeatedMore(node: Repetition, least: number, most: number): RegexNode {
  const [min, max] = bounds(node);
  return {
    op: 'repeat',
    flags: node.flags,
    sub: node.sub,
    min: min + least,
    max: max === -1 || most === -1 ? -1 : max + most,
  };
}

function isRepetition(node: RegexNode): node is Repetition {
  return node.op === 'star' || node.op === 'plus' || node.op === 'quest' || node.op === 'repeat';
}

function bounds(node: Repetition): [min: number, max: number] {
  switch (node.op) {
    case 'star':
      return [0, -1];
    case 'plus':
      return [1, -1];
    case 'quest':
      return [0, 1];
    case 'repeat':
      return [node.min, node.max];
  }
}

function expand(node: RegexNode): RegexNode {
  switch (node.op) {
    case 'class':
      return node.set.length === 0 ? { op: 'nothing', flags: node.flags } : node;
    case 'capture':
      return { ...node, sub: expand(node.sub) };
    case 'concat':
    case 'alternate':
      return { ...node, subs: node.subs.map(expand) };
    case 'star':
    case 'plus':
    case 'quest': {
      const sub = expand(node.sub);
      if (sub.op === 'empty') return sub;
      return sub.op === node.op && sub.flags === node.flags ? sub : { ...node, sub };
    }
    case 'repeat': {
      const sub = expand(node.sub);
      return sub.op === 'empty' ? sub : expandRepeat(sub, node);
    }
    default:
      return node;
  }
}

function expandRepeat(
  sub: RegexNode,
  node: Extract<RegexNode, { readonly op: 'repeat' }>,
): RegexNode {
  const { flags } = node;
  const once = isEmptyWidth(sub) || ('subs' in sub && sub.subs.every(isEmptyWidth));
  const min = once ? Math.min(node.min, 1) : node.min;
  const max = once ? Math.min(node.max, 1) : node.max;
  if (max === -1) {
    if (min === 0) return squashed({ op: 'star', flags, sub });
    const plus = squashed({ op: 'plus', flags, sub });
    return concat([...copies(sub, min - 1), plus], flags);
  }
  if (max === 0) return { op: 'empty', flags };
  if (min === 1 && max === 1) return sub;
  const prefix = min > 0 ? [concat(copies(sub, min), flags)] : [];
  if (max === min) return concat(prefix, flags);
  let suffix: RegexNode = squashed({ op: 'quest', flags, sub });
  for (let count = min + 1; count < max; count++) {
    suffix = { op: 'quest', flags, sub: concat([sub, suffix], flags) };
  }
  return concat([...prefix, suffix], flags);
}

/** A repetition of a repetition with the same flags is one repetition. */
function squashed(node: Extract<RegexNode, { readonly op: 'star' | 'plus' | 'quest' }>): RegexNode {
  const { sub } = node;
  if (sub.op !== 'star' && sub.op !== 'plus' && sub.op !== 'quest') return node;
  if (sub.flags !== node.flags) return node;
  return sub.op === node.op ? sub : { ...sub, op: 'star' };
}

function copies(node: RegexNode, count: number): RegexNode[] {
  return Array.from({ length: count }, () => node);
}
