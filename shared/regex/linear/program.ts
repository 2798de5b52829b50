/**
 * The program of a regular expression: a graph of nodes that the supervisor compiled from the
 * syntax tree (RE2's construction, so that it prefers the matches that RE2 prefers). It crosses to
 * workers as a short text and is read when a text first needs it. Bytes that no node tells
 * apart share a column, so that tables stay narrow.
 */

/** What a node does; also its letter in the text form. */
export const OP = { fail: 0, set: 1, alt: 2, empty: 3, capture: 4, jump: 5, match: 6, start: 7 };
const OP_LETTERS = 'fsaecjm';

/** Conditions of an `empty` node, and of a place in a text. */
export const BEGIN_TEXT = 1;
export const END_TEXT = 2;
export const BEGIN_LINE = 4;
export const END_LINE = 8;
export const WORD_BOUNDARY = 16;
export const NOT_WORD_BOUNDARY = 32;

/** What stands beside a place: a text's end, a line feed, a letter of a word, anything else. */
const EDGE = 0;
const NEWLINE = 1;
const WORD = 2;
const OTHER = 3;

/** Neighbours of each node: those of node `n` are `to[first[n]]` up to `to[first[n + 1]]`. */
export interface Edges {
  readonly first: Int32Array;
  readonly to: Int32Array;
}

export interface Program {
  readonly ops: Uint8Array;
  /** The argument: of `set` the class, of `empty` the conditions, of `capture` the slot. */
  readonly args: Int32Array;
  readonly forward: Edges;
  readonly backward: Edges;
  /** The node before the first; it is the last one of the arrays. */
  readonly start: number;
  readonly match: number;
  /** The column of each byte; the column of a text's end comes behind all of them. */
  readonly columns: Uint8Array;
  readonly columnCount: number;
  /** Whether a class has a column: `members[set * columnCount + column]`. */
  readonly members: Uint8Array;
  /** What a byte of the column is as a neighbour; all the same where no node asks. */
  readonly contexts: Uint8Array;
  /** What a text's end is as a neighbour. */
  readonly edge: number;
  /** Groups of the pattern, also those that can never take part in a match. */
  readonly captures: number;
  /** No match begins anywhere but at the beginning of a text. */
  readonly isAnchored: boolean;
  /** No match ends anywhere but at the end of a text. */
  readonly isAnchoredAtEnd: boolean;
}

/** Throws when the text was written by another build; reading it can wait until it is needed. */
export function checkProgram(text: string): void {
  if (!PROGRAM.test(text)) throw new Error('a program of a regular expression cannot be read');
}

const PROGRAM = /^[\da-z]+\.[\da-z]+;[\da-f,]*(?:;[fsaecjm][\da-z.]*)+$/;

/** Reads a program that was checked. */
export function readProgram(text: string): Program {
  const [head = '', setText = '', ...nodeTexts] = text.split(';');
  const sets = setText === '' ? [] : setText.split(',').map(readSet);
  const [first = 0, captures = 0] = head.split('.').map(readNumber);
  const count = nodeTexts.length;
  const ops = new Uint8Array(count + 1);
  const args = new Int32Array(count + 1);
  const outs: (readonly number[])[] = [];
  nodeTexts.forEach((node, index) => {
    const op = OP_LETTERS.indexOf(node.charAt(0));
    const numbers = node.length > 1 ? node.slice(1).split('.').map(readNumber) : [];
    ops[index] = op;
    outs.push(readOuts(op, numbers, index, args));
  });
  ops[count] = OP.start;
  outs.push([first]);
  const asked = conditionsOf(ops, args);
  const { columns, columnCount, samples } = columnsOf(sets, asked);
  const edges = edgesOf(outs);
  const match = ops.indexOf(OP.match);
  return {
    ops,
    args,
    ...edges,
    start: count,
    match,
    columns,
    columnCount,
    members: membersOf(sets, samples),
    contexts: Uint8Array.from(samples, (byte) => contextOf(byte, asked)),
    edge: asked === 0 ? OTHER : EDGE,
    captures,
    isAnchored: !reachesWithin({ ops, args }, edges.forward, count, BEGIN_TEXT),
    isAnchoredAtEnd: !reachesWithin({ ops, args }, edges.backward, match, END_TEXT),
  };
}

/** The conditions that hold between two neighbours. */
export function conditionsBetween(before: number, after: number): number {
  const isBoundary = (before === WORD) !== (after === WORD);
  return (
    (before === EDGE ? BEGIN_TEXT | BEGIN_LINE : 0) |
    (after === EDGE ? END_TEXT | END_LINE : 0) |
    (before === NEWLINE ? BEGIN_LINE : 0) |
    (after === NEWLINE ? END_LINE : 0) |
    (isBoundary ? WORD_BOUNDARY : NOT_WORD_BOUNDARY)
  );
}

type Ranges = readonly (readonly [first: number, last: number])[];

function readSet(text: string): Ranges {
  const ranges: [number, number][] = [];
  for (let at = 0; at + 4 <= text.length; at += 4) {
    const bounds = Number.parseInt(text.slice(at, at + 4), 16);
    ranges.push([bounds >> 8, bounds & 0xff]);
  }
  return ranges;
}

function readNumber(text: string): number {
  return text === '' ? -1 : Number.parseInt(text, 36);
}

/** Where a node leads; an out that is not written is the node behind. */
function readOuts(
  op: number,
  numbers: readonly number[],
  index: number,
  args: Int32Array,
): readonly number[] {
  const [first = -1, second = -1] = numbers;
  switch (op) {
    case OP.fail:
    case OP.match:
      return [];
    case OP.alt:
      return [first, second < 0 ? index + 1 : second];
    case OP.jump:
      return [first < 0 ? index + 1 : first];
    default:
      args[index] = first;
      return [second < 0 ? index + 1 : second];
  }
}

function edgesOf(outs: readonly (readonly number[])[]): { forward: Edges; backward: Edges } {
  const into: number[][] = outs.map(() => []);
  outs.forEach((targets, from) => {
    for (const target of targets) into[target]?.push(from);
  });
  return { forward: flatEdges(outs), backward: flatEdges(into) };
}

function flatEdges(lists: readonly (readonly number[])[]): Edges {
  const first = new Int32Array(lists.length + 1);
  lists.forEach((list, node) => {
    first[node + 1] = (first[node] ?? 0) + list.length;
  });
  return { first, to: Int32Array.from(lists.flat()) };
}

function conditionsOf(ops: Uint8Array, args: Int32Array): number {
  let asked = 0;
  ops.forEach((op, node) => {
    if (op === OP.empty) asked |= args[node] ?? 0;
  });
  return asked;
}

function contextOf(byte: number, asked: number): number {
  if ((asked & (BEGIN_LINE | END_LINE)) !== 0 && byte === 0x0a) return NEWLINE;
  const asksWords = (asked & (WORD_BOUNDARY | NOT_WORD_BOUNDARY)) !== 0;
  return asksWords && isWordByte(byte) ? WORD : OTHER;
}

function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x5f ||
    (byte >= 0x61 && byte <= 0x7a)
  );
}

interface Columns {
  readonly columns: Uint8Array;
  readonly columnCount: number;
  /** One byte of each column. */
  readonly samples: readonly number[];
}

/** Splits the columns by one class after the other. */
function columnsOf(sets: readonly Ranges[], asked: number): Columns {
  const columns = new Uint8Array(256);
  for (let byte = 0; byte < 256; byte++) columns[byte] = contextOf(byte, asked);
  let columnCount = split(columns, new Uint8Array(256));
  const isMember = new Uint8Array(256);
  for (const set of sets) {
    if (columnCount === 256) break;
    isMember.fill(0);
    for (const [first, last] of set) isMember.fill(1, first, last + 1);
    columnCount = split(columns, isMember);
  }
  const samples: number[] = [];
  for (let byte = 255; byte >= 0; byte--) samples[columns[byte] ?? 0] = byte;
  return { columns, columnCount, samples };
}

/** Gives the members of each column a column of their own. */
function split(columns: Uint8Array, isMember: Uint8Array): number {
  const numbers = new Map<number, number>();
  for (let byte = 0; byte < 256; byte++) {
    const key = (columns[byte] ?? 0) * 2 + (isMember[byte] ?? 0);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    columns[byte] = number;
  }
  return numbers.size;
}

function membersOf(sets: readonly Ranges[], samples: readonly number[]): Uint8Array {
  const members = new Uint8Array(sets.length * samples.length);
  sets.forEach((set, index) => {
    samples.forEach((byte, column) => {
      const isIn = set.some(([first, last]) => first <= byte && byte <= last);
      members[index * samples.length + column] = isIn ? 1 : 0;
    });
  });
  return members;
}

/** Whether a byte or the other end can be reached without passing a node that asks for the edge. */
function reachesWithin(
  { ops, args }: Pick<Program, 'ops' | 'args'>,
  { first, to }: Edges,
  from: number,
  edge: number,
): boolean {
  const seen = new Uint8Array(ops.length);
  const pending = [from];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (seen[node] === 1) continue;
    seen[node] = 1;
    const op = ops[node];
    const isEnd = op === OP.set || op === OP.match || op === OP.start;
    if (isEnd && node !== from) return true;
    if (op === OP.empty && ((args[node] ?? 0) & edge) !== 0) continue;
    for (let at = first[node] ?? 0; at < (first[node + 1] ?? 0); at++) pending.push(to[at] ?? 0);
  }
  return false;
}
