/**
 * Reads RE2 syntax as Envoy does: over bytes, with RE2's Perl extensions, and with RE2's
 * words for what is wrong. Back-references and look-around do not exist in it.
 */
import { atOnce, type Steps } from '../loop/loop-turns.ts';
import { PERL_CLASSES } from './byte-set.ts';
import { parseClass, parseUnicodeGroup } from './parse-class.ts';
import { Cursor, parseEscape, RegexSyntaxError } from './parse-escape.ts';
import { ParseStack, withLaziness } from './parse-stack.ts';
import { DOT_NEWLINE, FOLD_CASE, ONE_LINE, type RegexNode, type RepeatOp } from './tree.ts';
import { readFlagGroup, setFlag } from './flag-group.ts';

export interface ParsedRegex {
  readonly root: RegexNode;
  readonly captures: number;
}

/** Elements that are read in one step, a millisecond at most. */
const ELEMENTS_PER_STEP = 4096;

/** Deeper nesting is refused: the walks over the tree are recursive. */
const MAX_DEPTH = 1000;

/**
 * `pattern` is a byte string: one character per byte. Throws RegexSyntaxError, whose message is
 * worded as RE2 words it.
 */
export function parseRegex(pattern: string): ParsedRegex {
  return atOnce(parseInSteps(pattern));
}

/** As `parseRegex`. */
export function* parseInSteps(pattern: string): Steps<ParsedRegex> {
  return yield* new Parser(pattern).parse();
}

class Parser {
  readonly #cursor: Cursor;
  readonly #stack = new ParseStack();
  #flags = ONE_LINE;
  /** Where the repetition that was just read began, or -1: `a**` is refused. */
  #repeatStart = -1;

  constructor(pattern: string) {
    this.#cursor = new Cursor(pattern);
  }

  *parse(): Steps<ParsedRegex> {
    const cursor = this.#cursor;
    for (let count = 1; !cursor.atEnd; count++) {
      if (count % ELEMENTS_PER_STEP === 0) yield;
      const start = cursor.position;
      const isRepeat = this.#step();
      this.#repeatStart = isRepeat ? start : -1;
      if (this.#stack.depth > MAX_DEPTH) throw new RegexSyntaxError('expression nests too deeply');
    }
    yield;
    this.#stack.setFlags(this.#flags);
    const root = this.#stack.finish();
    if (root === undefined) throw new RegexSyntaxError('missing )', cursor.text);
    return { root, captures: this.#stack.captures };
  }

  /** Reads one element; true when it was a repetition. */
  #step(): boolean {
    const cursor = this.#cursor;
    this.#stack.setFlags(this.#flags);
    switch (cursor.peek()) {
      case '(':
        this.#openGroup();
        return false;
      case ')':
        this.#closeGroup();
        return false;
      case '|':
        cursor.skip(1);
        this.#stack.verticalBar();
        return false;
      case '[':
        this.#stack.pushClass(parseClass(cursor, this.#folds), this.#flags);
        return false;
      case '*':
        return this.#repeat('star');
      case '+':
        return this.#repeat('plus');
      case '?':
        return this.#repeat('quest');
      case '{':
        return this.#countedOrLiteral();
      case '\\':
        this.#escape();
        return false;
      default:
        this.#single();
        return false;
    }
  }

  get #folds(): boolean {
    return (this.#flags & FOLD_CASE) !== 0;
  }

  #single(): void {
    const flags = this.#flags;
    const character = this.#cursor.take();
    const oneLine = (flags & ONE_LINE) !== 0;
    if (character === '^') {
      this.#stack.pushNode({ op: oneLine ? 'begin_text' : 'begin_line', flags });
    } else if (character === '$') {
      this.#stack.pushNode({ op: oneLine ? 'end_text' : 'end_line', flags });
    } else if (character === '.') {
      if ((flags & DOT_NEWLINE) !== 0) this.#stack.pushNode({ op: 'any', flags });
      else this.#stack.pushClass(NOT_NEWLINE, flags);
    } else {
      this.#stack.pushLiteral(character.charCodeAt(0), flags);
    }
  }

  #openGroup(): void {
    const cursor = this.#cursor;
    if (cursor.peek(1) === '?') {
      this.#perlGroup();
      return;
    }
    cursor.skip(1);
    this.#stack.openGroup(this.#flags, true);
  }

  #closeGroup(): void {
    const flags = this.#stack.closeGroup();
    if (flags === undefined) throw new RegexSyntaxError('unexpected )', this.#cursor.text);
    this.#flags = flags;
    this.#cursor.skip(1);
  }

  /** `(?P<name>`, `(?<name>`, `(?flags)` and `(?flags:`. */
  #perlGroup(): void {
    const cursor = this.#cursor;
    const rest = cursor.rest();
    const lookAround = /^\(\?(?:[=!].|<[=!]..?)/s.exec(rest);
    if (lookAround !== null) {
      throw new RegexSyntaxError('invalid perl operator', rest.slice(0, rest[2] === '<' ? 4 : 3));
    }
    const named = /^\(\?P?<(?=.)/s.exec(rest);
    if (named === null) {
      this.#flagGroup(rest);
      return;
    }
    const end = rest.indexOf('>', named[0].length);
    if (end < 0) throw new RegexSyntaxError('invalid named capture group', rest);
    // In bytes every Latin-1 letter could be part of a name; RE2 looks at them as Unicode.
    if (!CAPTURE_NAME.test(rest.slice(named[0].length, end))) {
      throw new RegexSyntaxError('invalid named capture group', rest.slice(0, end + 1));
    }
    cursor.skip(end + 1);
    this.#stack.openGroup(this.#flags, true);
  }

  #flagGroup(rest: string): void {
    const group = readFlagGroup(rest);
    const before = this.#flags;
    let flags = before;
    for (const letter of group.set) flags = setFlag(flags, letter, true);
    for (const letter of group.cleared) flags = setFlag(flags, letter, false);
    this.#cursor.skip(group.length);
    if (group.opens) this.#stack.openGroup(before, false);
    this.#flags = flags;
  }

  #repeat(op: RepeatOp): true {
    const cursor = this.#cursor;
    const start = cursor.position;
    cursor.skip(1);
    const lazy = this.#laziness();
    if (!this.#stack.repeat(op, withLaziness(this.#flags, lazy))) {
      throw new RegexSyntaxError('no argument for repetition operator', cursor.since(start));
    }
    return true;
  }

  #laziness(): boolean {
    const lazy = this.#cursor.peek() === '?';
    if (lazy) this.#cursor.skip(1);
    if (this.#repeatStart >= 0) {
      throw new RegexSyntaxError('bad repetition operator', this.#cursor.since(this.#repeatStart));
    }
    return lazy;
  }

  #countedOrLiteral(): boolean {
    const cursor = this.#cursor;
    const counted = COUNTED.exec(cursor.rest());
    if (counted === null) {
      cursor.skip(1);
      this.#stack.pushLiteral(0x7b, this.#flags);
      return false;
    }
    const start = cursor.position;
    const [whole, least = '', comma, most = ''] = counted;
    cursor.skip(whole.length);
    const lazy = this.#laziness();
    const min = Number(least);
    const max = comma === undefined ? min : most === '' ? -1 : Number(most);
    const outcome = this.#stack.repeatCounted(min, max, withLaziness(this.#flags, lazy));
    if (outcome === 'size') {
      throw new RegexSyntaxError('invalid repetition size', cursor.since(start));
    }
    if (outcome === 'argument') {
      throw new RegexSyntaxError('no argument for repetition operator', cursor.since(start));
    }
    return true;
  }

  #escape(): void {
    const cursor = this.#cursor;
    const flags = this.#flags;
    const letter = cursor.peek(1) ?? '';
    const simple = SIMPLE_ESCAPES.get(letter);
    if (simple !== undefined) {
      cursor.skip(2);
      this.#stack.pushNode({ op: simple, flags });
      return;
    }
    if (letter === 'Q') {
      this.#quoted();
      return;
    }
    if (letter === 'p' || letter === 'P') {
      this.#stack.pushClass(parseUnicodeGroup(cursor, this.#folds), flags);
      return;
    }
    const perl = PERL_CLASSES.get(letter);
    if (perl !== undefined) {
      cursor.skip(2);
      this.#stack.pushClass(perl, flags);
      return;
    }
    this.#stack.pushLiteral(parseEscape(cursor), flags);
  }

  #quoted(): void {
    const cursor = this.#cursor;
    cursor.skip(2);
    const rest = cursor.rest();
    const end = rest.indexOf('\\E');
    for (const character of end < 0 ? rest : rest.slice(0, end)) {
      this.#stack.pushLiteral(character.charCodeAt(0), this.#flags);
    }
    cursor.skip(end < 0 ? rest.length : end + 2);
  }
}

const NOT_NEWLINE = [
  [0, 9],
  [11, 255],
] as const;

const SIMPLE_ESCAPES: ReadonlyMap<
  string,
  'word_boundary' | 'not_word_boundary' | 'begin_text' | 'end_text' | 'any'
> = new Map([
  ['b', 'word_boundary'],
  ['B', 'not_word_boundary'],
  ['A', 'begin_text'],
  ['z', 'end_text'],
  ['C', 'any'],
]);

/** Leading zeroes and numbers of more than eight digits make it an ordinary brace. */
const COUNTED = /^\{(0|[1-9][0-9]{0,8})(?:(,)(0|[1-9][0-9]{0,8})?)?\}/;
const CAPTURE_NAME = /^[\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}]+$/u;
