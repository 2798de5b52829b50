/**
 * Takes common beginnings out of alternations (`abc|abd` becomes `ab[cd]`) in the three rounds that
 * RE2 makes: leading literals, leading simple expressions, runs of single characters. What matches
 * stays the same; the size of RE2's program, which Envoy limits, does not.
 */
import { ByteSetBuilder } from './byte-set.ts';
import {
  alternate,
  concat,
  FOLD_CASE,
  isEmptyWidth,
  literal,
  sameNode,
  type RegexNode,
} from './tree.ts';

export function factorAlternation(subs: readonly RegexNode[], flags: number): readonly RegexNode[] {
  let current = groupRuns(subs, flags, leadingLiteralRun);
  current = groupRuns(current, flags, leadingNodeRun);
  return mergeCharacters(current, flags);
}

interface Run {
  /** How many alternatives from the start share the prefix; at least 1. */
  readonly length: number;
  readonly prefix: RegexNode;
  readonly removePrefix: (node: RegexNode) => RegexNode;
}

function groupRuns(
  subs: readonly RegexNode[],
  flags: number,
  findRun: (subs: readonly RegexNode[], start: number) => Run | undefined,
): readonly RegexNode[] {
  const result: RegexNode[] = [];
  for (let start = 0; start < subs.length;) {
    const run = findRun(subs, start);
    const first = subs[start];
    if (run === undefined || run.length === 1) {
      if (first !== undefined) result.push(first);
      start += 1;
      continue;
    }
    const suffixes = subs.slice(start, start + run.length).map(run.removePrefix);
    const factored = factorAlternation(suffixes, flags);
    result.push(concat([run.prefix, alternate(factored, flags)], flags));
    start += run.length;
  }
  return result;
}

function leadingLiteralRun(subs: readonly RegexNode[], start: number): Run | undefined {
  const first = leadingLiteral(subs[start]);
  if (first === undefined) return undefined;
  let shared = first.text;
  let end = start + 1;
  for (; end < subs.length; end++) {
    const next = leadingLiteral(subs[end]);
    if (next === undefined || (next.flags & FOLD_CASE) !== (first.flags & FOLD_CASE)) break;
    const same = commonLength(shared, next.text);
    if (same === 0) break;
    shared = shared.slice(0, same);
  }
  return {
    length: end - start,
    prefix: literal(shared, first.flags & FOLD_CASE),
    removePrefix: (node) => removeLeadingText(node, shared.length),
  };
}

function leadingLiteral(
  node: RegexNode | undefined,
): Extract<RegexNode, { op: 'literal' }> | undefined {
  let first = node;
  while (first?.op === 'concat') first = first.subs[0];
  return first?.op === 'literal' ? first : undefined;
}

function commonLength(a: string, b: string): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return same;
}

function removeLeadingText(node: RegexNode, count: number): RegexNode {
  if (node.op === 'literal') return literal(node.text.slice(count), node.flags);
  if (node.op !== 'concat') return node;
  const [first, ...rest] = node.subs;
  if (first === undefined) return node;
  const shorter = removeLeadingText(first, count);
  return concat(shorter.op === 'empty' ? rest : [shorter, ...rest], node.flags);
}

function leadingNodeRun(subs: readonly RegexNode[], start: number): Run | undefined {
  const first = leadingNode(subs[start]);
  if (first === undefined || !isSimplePrefix(first)) return undefined;
  let end = start + 1;
  for (; end < subs.length; end++) {
    const next = leadingNode(subs[end]);
    if (next === undefined || !sameNode(first, next)) break;
  }
  return { length: end - start, prefix: first, removePrefix: removeLeadingNode };
}

function leadingNode(node: RegexNode | undefined): RegexNode | undefined {
  if (node === undefined || node.op === 'empty') return undefined;
  if (node.op !== 'concat') return node;
  const [first] = node.subs;
  return first?.op === 'empty' ? undefined : first;
}

function isSimplePrefix(node: RegexNode): boolean {
  if (isEmptyWidth(node) || node.op === 'class' || node.op === 'any') return true;
  return node.op === 'repeat' && node.min === node.max && isOneCharacter(node.sub);
}

/** A single byte, a class or any byte. */
export function isOneCharacter(node: RegexNode): boolean {
  return (
    (node.op === 'literal' && node.text.length === 1) || node.op === 'class' || node.op === 'any'
  );
}

function removeLeadingNode(node: RegexNode): RegexNode {
  if (node.op === 'concat') return concat(node.subs.slice(1), node.flags);
  return { op: 'empty', flags: node.flags };
}

function mergeCharacters(subs: readonly RegexNode[], flags: number): readonly RegexNode[] {
  const result: RegexNode[] = [];
  for (let start = 0; start < subs.length;) {
    let end = start;
    while (isLiteralOrClass(subs[end])) end += 1;
    if (end - start < 2) {
      const node = subs[start];
      if (node !== undefined) result.push(node);
      start += 1;
      continue;
    }
    const builder = new ByteSetBuilder();
    for (const node of subs.slice(start, end)) addCharacters(builder, node);
    result.push({ op: 'class', flags: flags & ~FOLD_CASE, set: builder.build() });
    start = end;
  }
  return result;
}

function isLiteralOrClass(node: RegexNode | undefined): boolean {
  return node?.op === 'class' || (node?.op === 'literal' && node.text.length === 1);
}

function addCharacters(builder: ByteSetBuilder, node: RegexNode): void {
  if (node.op === 'class') builder.addSet(node.set);
  if (node.op === 'literal') {
    const byte = node.text.charCodeAt(0);
    builder.addRange(byte, byte, (node.flags & FOLD_CASE) !== 0);
  }
}
