/**
 * The stack on which a regular expression is put together: RE2's own construction, so that the
 * finished tree has RE2's shape (merged literals, collapsed lists, factored alternations).
 */
import { factorAlternation } from './factor.ts';
import { ByteSetBuilder, hasByte, sizeOf } from './byte-set.ts';
import {
  alternate,
  concat,
  FOLD_CASE,
  NON_GREEDY,
  type ByteSet,
  type RegexNode,
  type RepeatOp,
} from './tree.ts';

/** Entries that are no expressions yet: an open bracket (index 0 does not capture) and a bar. */
type Marker =
  | { readonly op: 'left_paren'; readonly flags: number; readonly index: number }
  | { readonly op: 'vertical_bar'; readonly flags: number };

type Entry = RegexNode | Marker;

const REPEAT_MAX = 1000;

export class ParseStack {
  readonly #entries: Entry[] = [];
  #captures = 0;
  #depth = 0;
  #flags = 0;

  get captures(): number {
    return this.#captures;
  }

  /** How many brackets are open. */
  get depth(): number {
    return this.#depth;
  }

  /** Flags for the lists that are built when a bar, a bracket or the end completes them. */
  setFlags(flags: number): void {
    this.#flags = flags;
  }

  pushNode(node: RegexNode): void {
    this.#mergeLiterals();
    this.#entries.push(node);
  }

  /** A class of one byte, or of both cases of a letter, is a literal. */
  pushClass(set: ByteSet, flags: number): void {
    this.#mergeLiterals();
    this.#entries.push(classOrLiteral(set, flags));
  }

  pushLiteral(byte: number, flags: number): void {
    if ((flags & FOLD_CASE) !== 0 && /[A-Za-z]/.test(String.fromCharCode(byte))) {
      const builder = new ByteSetBuilder();
      builder.addRange(byte, byte, true);
      this.pushClass(builder.build(), flags);
      return;
    }
    this.pushNode({ op: 'literal', flags, text: String.fromCharCode(byte) });
  }

  openGroup(flags: number, captures: boolean): void {
    this.#mergeLiterals();
    this.#depth += 1;
    this.#entries.push({ op: 'left_paren', flags, index: captures ? ++this.#captures : 0 });
  }

  /** The flags from before the group, or undefined when no group is open. */
  closeGroup(): number | undefined {
    this.#alternation();
    const node = this.#entries.pop();
    const paren = this.#entries.pop();
    if (node === undefined || isMarker(node) || paren?.op !== 'left_paren') return undefined;
    this.#depth -= 1;
    const { flags, index } = paren;
    this.pushNode(index === 0 ? node : { op: 'capture', flags, index, sub: node });
    return flags;
  }

  /** False: there is nothing to repeat. */
  repeat(op: RepeatOp, flags: number): boolean {
    const top = this.#entries.at(-1);
    if (top === undefined || isMarker(top)) return false;
    const isRepetition = top.op === 'star' || top.op === 'plus' || top.op === 'quest';
    if (isRepetition && top.flags === flags) {
      if (top.op !== op) this.#entries[this.#entries.length - 1] = { ...top, op: 'star' };
      return true;
    }
    this.#entries[this.#entries.length - 1] = { op, flags, sub: top };
    return true;
  }

  /** Counted repetition; see Envoy's two ways to refuse it. */
  repeatCounted(min: number, max: number, flags: number): 'ok' | 'size' | 'argument' {
    if ((max !== -1 && max < min) || min > REPEAT_MAX || max > REPEAT_MAX) return 'size';
    const top = this.#entries.at(-1);
    if (top === undefined || isMarker(top)) return 'argument';
    const node: RegexNode = { op: 'repeat', flags, sub: top, min, max };
    this.#entries[this.#entries.length - 1] = node;
    return (min >= 2 || max >= 2) && copiesLeft(node, REPEAT_MAX) === 0 ? 'size' : 'ok';
  }

  verticalBar(): void {
    this.#mergeLiterals();
    this.#concatenation();
    const entries = this.#entries;
    const right = entries.pop();
    const bar = entries.at(-1);
    if (right === undefined) return;
    if (bar?.op !== 'vertical_bar') {
      entries.push(right, { op: 'vertical_bar', flags: this.#flags });
      return;
    }
    const left = entries.at(-2);
    if (left?.op === 'any' && isSubsumable(right)) return;
    if (right.op === 'any' && left !== undefined && isSubsumable(left)) {
      entries.splice(-2, 2, right, bar);
      return;
    }
    entries.splice(-1, 1, right, bar);
  }

  /** The whole expression, or undefined when a bracket is still open. */
  finish(): RegexNode | undefined {
    this.#alternation();
    const [node] = this.#entries;
    return this.#entries.length === 1 && node !== undefined && !isMarker(node) ? node : undefined;
  }

  #alternation(): void {
    this.verticalBar();
    this.#entries.pop();
    this.#collapse('alternate');
  }

  #concatenation(): void {
    const top = this.#entries.at(-1);
    if (top === undefined || isMarker(top)) this.pushNode({ op: 'empty', flags: this.#flags });
    this.#collapse('concat');
  }

  #collapse(op: 'concat' | 'alternate'): void {
    const subs: RegexNode[] = [];
    for (let entry = this.#entries.at(-1); entry !== undefined && !isMarker(entry);) {
      subs.push(entry);
      this.#entries.pop();
      entry = this.#entries.at(-1);
    }
    subs.reverse();
    const [only] = subs;
    if (only !== undefined && subs.length === 1) {
      this.#entries.push(only);
      return;
    }
    const flat = subs.flatMap((sub) => (sub.op === op ? sub.subs : [sub]));
    const node =
      op === 'concat'
        ? concat(flat, this.#flags)
        : alternate(factorAlternation(flat, this.#flags), this.#flags);
    this.#entries.push(node);
  }

  /** Joins the two topmost literals when their case rule is the same. */
  #mergeLiterals(): void {
    const top = this.#entries.at(-1);
    const below = this.#entries.at(-2);
    if (top?.op !== 'literal' || below?.op !== 'literal') return;
    if ((top.flags & FOLD_CASE) !== (below.flags & FOLD_CASE)) return;
    this.#entries.splice(-2, 2, { ...below, text: below.text + top.text });
  }
}

/** `flags` with the greediness turned round, for a repetition followed by `?`. */
export function withLaziness(flags: number, lazy: boolean): number {
  return lazy ? flags ^ NON_GREEDY : flags;
}

function isMarker(entry: Entry): entry is Marker {
  return entry.op === 'left_paren' || entry.op === 'vertical_bar';
}

function isSubsumable(entry: Entry): boolean {
  if (entry.op === 'literal') return entry.text.length === 1;
  return entry.op === 'class' || entry.op === 'any';
}

function classOrLiteral(set: ByteSet, flags: number): RegexNode {
  const size = sizeOf(set);
  const [first] = set;
  if (first !== undefined && size === 1) {
    return { op: 'literal', flags, text: String.fromCharCode(first[0]) };
  }
  if (first !== undefined && size === 2) {
    const byte = first[0];
    if (byte >= 0x41 && byte <= 0x5a && hasByte(set, byte + 32)) {
      return { op: 'literal', flags: flags | FOLD_CASE, text: String.fromCharCode(byte + 32) };
    }
  }
  return { op: 'class', flags: flags & ~FOLD_CASE, set };
}

/** How many copies nested counted repetitions leave of `limit`; 0 means that they are too many. */
function copiesLeft(node: RegexNode, limit: number): number {
  let left = limit;
  if (node.op === 'repeat') {
    const copies = node.max < 0 ? node.min : node.max;
    if (copies > 0) left = Math.trunc(left / copies);
  }
  if ('sub' in node) return Math.min(left, copiesLeft(node.sub, left));
  if ('subs' in node) return Math.min(left, ...node.subs.map((sub) => copiesLeft(sub, left)));
  return left;
}
