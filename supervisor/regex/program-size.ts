/**
 * The size of the program that RE2 would run, which Envoy limits (100 unless the runtime
 * says otherwise): the tree is simplified, compiled and flattened as RE2 does it, then counted.
 * Nothing is ever run here.
 */
import { flattenedSize } from './flattened-size.ts';
import { compileProgram, type Program } from './program.ts';
import { simplify } from './simplify.ts';
import { concat, type RegexNode } from './tree.ts';

export function programSize(root: RegexNode): number {
  return flattenedSize(countedProgram(root));
}

/** Throws RangeError when RE2 refuses the pattern under any limit. */
export function checkProgramSize(root: RegexNode): void {
  void countedProgram(root);
}

function countedProgram(root: RegexNode): Program {
  const [node, anchoredAtStart] = withoutAnchors(simplify(suffixOf(root)));
  return compileProgram(node, { anchoredAtStart, purpose: 'count' });
}

/** RE2 compares a required literal beginning by itself and compiles only what follows it. */
function suffixOf(root: RegexNode): RegexNode {
  if (root.op !== 'concat') return root;
  const anchors = root.subs.findIndex((sub) => sub.op !== 'begin_text');
  const first = root.subs[anchors];
  if (anchors <= 0 || first?.op !== 'literal') return root;
  return concat(root.subs.slice(anchors + 1), root.flags);
}

/** Anchors are looked for no deeper than this. */
const ANCHOR_DEPTH = 4;

function withoutAnchors(root: RegexNode): [node: RegexNode, anchoredAtStart: boolean] {
  const afterStart = withoutAnchor(root, 'begin_text', 0);
  const start = afterStart ?? root;
  return [withoutAnchor(start, 'end_text', 0) ?? start, afterStart !== undefined];
}

function withoutAnchor(
  node: RegexNode,
  anchor: 'begin_text' | 'end_text',
  depth: number,
): RegexNode | undefined {
  if (depth >= ANCHOR_DEPTH) return undefined;
  if (node.op === anchor) return { op: 'empty', flags: node.flags };
  if (node.op === 'capture') {
    const sub = withoutAnchor(node.sub, anchor, depth + 1);
    return sub === undefined ? undefined : { ...node, sub };
  }
  if (node.op !== 'concat') return undefined;
  const index = anchor === 'begin_text' ? 0 : node.subs.length - 1;
  const outer = node.subs[index];
  const sub = outer === undefined ? undefined : withoutAnchor(outer, anchor, depth + 1);
  return sub === undefined ? undefined : { ...node, subs: node.subs.with(index, sub) };
}
