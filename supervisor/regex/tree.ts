/**
 * The tree of a regular expression in RE2 syntax over bytes (Envoy runs RE2 in its Latin-1
 * mode: a character is one byte, and a pattern outside ASCII stands for its UTF-8 bytes).
 * Holds only shapes and the small constructors that keep RE2's normal form.
 */

/** Bits of `flags`; they decide which neighbours may be merged, as in RE2. */
export const FOLD_CASE = 1;
export const NON_GREEDY = 2;
/** `^` and `$` are the text's ends; cleared by `(?m)`. */
export const ONE_LINE = 4;
export const DOT_NEWLINE = 8;

export type EmptyWidthOp =
  | 'begin_line'
  | 'end_line'
  | 'begin_text'
  | 'end_text'
  | 'word_boundary'
  | 'not_word_boundary';

export type RepeatOp = 'star' | 'plus' | 'quest';

export type RegexNode =
  | { readonly op: 'empty' | 'nothing' | 'any'; readonly flags: number }
  | { readonly op: EmptyWidthOp; readonly flags: number }
  /** One byte or several; letters match either case when FOLD_CASE is set. */
  | { readonly op: 'literal'; readonly flags: number; readonly text: string }
  | { readonly op: 'class'; readonly flags: number; readonly set: ByteSet }
  | {
      readonly op: 'capture';
      readonly flags: number;
      readonly index: number;
      readonly sub: RegexNode;
    }
  | { readonly op: RepeatOp; readonly flags: number; readonly sub: RegexNode }
  | {
      readonly op: 'repeat';
      readonly flags: number;
      readonly sub: RegexNode;
      readonly min: number;
      /** -1 is without bound. */
      readonly max: number;
    }
  | {
      readonly op: 'concat' | 'alternate';
      readonly flags: number;
      readonly subs: readonly RegexNode[];
    };

/** Which of the 256 bytes belong to a class: ascending pairs of first and last byte. */
export type ByteSet = readonly (readonly [first: number, last: number])[];

export function isEmptyWidth(node: RegexNode): boolean {
  switch (node.op) {
    case 'begin_line':
    case 'end_line':
    case 'begin_text':
    case 'end_text':
    case 'word_boundary':
    case 'not_word_boundary':
      return true;
    default:
      return false;
  }
}

/** A literal of any length; none gives the empty match. */
export function literal(text: string, flags: number): RegexNode {
  return text === '' ? { op: 'empty', flags } : { op: 'literal', flags, text };
}

export function concat(subs: readonly RegexNode[], flags: number): RegexNode {
  const [only] = subs;
  if (only === undefined) return { op: 'empty', flags };
  return subs.length === 1 ? only : { op: 'concat', flags, subs };
}

/** An alternation as given, without looking for common beginnings. */
export function alternate(subs: readonly RegexNode[], flags: number): RegexNode {
  const [only] = subs;
  if (only === undefined) return { op: 'nothing', flags };
  return subs.length === 1 ? only : { op: 'alternate', flags, subs };
}

/** Whether two nodes are the same expression; greediness counts, other flags only on literals. */
export function sameNode(a: RegexNode, b: RegexNode): boolean {
  if (a.op === 'literal') {
    return (
      b.op === 'literal' && a.text === b.text && (a.flags & FOLD_CASE) === (b.flags & FOLD_CASE)
    );
  }
  if (a.op === 'class') return b.op === 'class' && sameSet(a.set, b.set);
  if ('sub' in a) return 'sub' in b && sameRepetition(a, b) && sameNode(a.sub, b.sub);
  if ('subs' in a) {
    return (
      'subs' in b &&
      a.op === b.op &&
      a.subs.length === b.subs.length &&
      a.subs.every((sub, index) => {
        const other = b.subs[index];
        return other !== undefined && sameNode(sub, other);
      })
    );
  }
  return a.op === b.op;
}

type NodeWithSub = Extract<RegexNode, { readonly sub: RegexNode }>;

function sameRepetition(a: NodeWithSub, b: NodeWithSub): boolean {
  if (a.op !== b.op) return false;
  if (a.op === 'capture') return b.op === 'capture' && a.index === b.index;
  if (isLazy(a) !== isLazy(b)) return false;
  if (a.op === 'repeat') return b.op === 'repeat' && a.min === b.min && a.max === b.max;
  return true;
}

function sameSet(a: ByteSet, b: ByteSet): boolean {
  return (
    a.length === b.length &&
    a.every(([first, last], index) => {
      const other = b[index];
      return other !== undefined && other[0] === first && other[1] === last;
    })
  );
}

/** A repetition that takes as little as it can. */
export function isLazy(node: RegexNode): boolean {
  return (node.flags & NON_GREEDY) !== 0;
}
