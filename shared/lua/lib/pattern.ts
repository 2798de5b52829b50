/** Lua's patterns. Each step of a match counts, so that no pattern runs for ever. */

/** The steps of one search: a few milliseconds. */
const STEPS_MAX = 500_000;
const LEVELS_MAX = 200;
const CAPTURES_MAX = 32;
const UNCLOSED = -1;
const POSITION = -2;
const ESCAPE = '%';

/** A pattern that is wrong, or does not come to an end. */
export class PatternError extends Error {}

const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['a', /[A-Za-z]/],
  ['c', /\p{Cc}/u],
  ['d', /[0-9]/],
  ['g', /[\x21-\x7e]/],
  ['l', /[a-z]/],
  ['p', /[!-/:-@[-`{-~]/],
  ['s', /[\t-\r ]/],
  ['u', /[A-Z]/],
  ['w', /[A-Za-z0-9]/],
  ['x', /[A-Fa-f0-9]/],
  ['z', /\0/],
]);

/** One class in a table of 256 characters, by its letter; made at the first pattern. */
let tables: ReadonlyMap<string, Uint8Array> | undefined;

function makeTables(): ReadonlyMap<string, Uint8Array> {
  const made = new Map<string, Uint8Array>();
  for (const [letter, pattern] of CLASSES) {
    const table = Uint8Array.from({ length: 256 }, (_each, code) =>
      pattern.test(String.fromCharCode(code)) ? 1 : 0,
    );
    made.set(letter, table);
    made.set(
      letter.toUpperCase(),
      table.map((each) => 1 - each),
    );
  }
  return made;
}

export type Capture = string | number;

interface Span {
  start: number;
  length: number;
}

export class PatternMatch {
  readonly #text: string;
  readonly #pattern: string;
  readonly #spans: Span[] = [];
  readonly #stepsMax: number;
  #level = 0;
  steps = 0;

  constructor(text: string, pattern: string, stepsMax = STEPS_MAX) {
    this.#stepsMax = stepsMax;
    this.#text = text;
    this.#pattern = pattern;
  }

  /** The end of a match that begins there; -1: none does. */
  at(start: number, patternStart: number): number {
    this.#spans.length = 0;
    this.#level = 0;
    return this.#match(start, patternStart);
  }

  whole(start: number, end: number): string {
    return this.#text.slice(start, end);
  }

  get captureCount(): number {
    return this.#spans.length;
  }

  /** What the pattern captured; the whole match where it captures nothing. */
  captures(start: number, end: number): readonly Capture[] {
    if (this.#spans.length === 0) return [this.#text.slice(start, end)];
    return this.#spans.map((_span, index) => this.capture(index, start, end));
  }

  capture(index: number, start: number, end: number): Capture {
    const span = this.#spans[index];
    if (span === undefined) {
      if (index !== 0) throw new PatternError('invalid capture index');
      return this.#text.slice(start, end);
    }
    if (span.length === POSITION) return span.start + 1;
    if (span.length === UNCLOSED) throw new PatternError('unfinished capture');
    return this.#text.slice(span.start, span.start + span.length);
  }

  #step(): void {
    this.steps += 1;
    if (this.steps > this.#stepsMax) throw new PatternError('pattern too complex');
  }

  #match(textStart: number, patternStart: number): number {
    this.#level += 1;
    if (this.#level > LEVELS_MAX) throw new PatternError('pattern too complex');
    const end = this.#matchHere(textStart, patternStart);
    this.#level -= 1;
    return end;
  }

  #matchHere(textStart: number, patternStart: number): number {
    let s = textStart;
    let p = patternStart;
    for (;;) {
      this.#step();
      const known = this.#endHere(s, p);
      if (known !== undefined) return known;
      if (this.#isSpecial(p)) [s, p] = this.#special(s, p);
      else {
        const end = this.#itemEnd(p);
        const repeated = this.#repeated(s, p, end);
        if (repeated !== undefined) return repeated;
        if (this.#pattern[end] === '?') p = end + 1;
        else {
          if (!this.#fits(s, p, end)) return -1;
          s += 1;
          p = end;
        }
      }
      if (s < 0) return -1;
    }
  }

  /** The end of the pattern, an anchor there, and what is in brackets. */
  #endHere(s: number, p: number): number | undefined {
    const pattern = this.#pattern;
    if (p >= pattern.length) return s;
    const char = pattern[p];
    if (char === '(' || char === ')') return this.#bracket(s, p);
    if (char === '$' && p + 1 === pattern.length) return s === this.#text.length ? s : -1;
    return undefined;
  }

  #isSpecial(p: number): boolean {
    return this.#pattern[p] === ESCAPE && /[bf0-9]/.test(this.#pattern[p + 1] ?? '');
  }

  /** An item with a suffix; undefined where it has none, or may be left out. */
  #repeated(s: number, p: number, end: number): number | undefined {
    const suffix = this.#pattern[end];
    if (suffix === '*') return this.#most([s, p, end], 0);
    if (suffix === '+') return this.#most([s, p, end], 1);
    if (suffix === '-') return this.#least(s, p, end);
    if (suffix !== '?' || !this.#fits(s, p, end)) return undefined;
    const found = this.#match(s + 1, end + 1);
    return found >= 0 ? found : undefined;
  }

  #bracket(s: number, p: number): number {
    if (this.#pattern[p] === ')') return this.#close(s, p);
    if (this.#pattern[p + 1] === ')') return this.#open(s, p + 2, POSITION);
    return this.#open(s, p + 1, UNCLOSED);
  }

  #open(s: number, p: number, length: number): number {
    if (this.#spans.length >= CAPTURES_MAX) throw new PatternError('too many captures');
    const count = this.#spans.length;
    this.#spans.push({ start: s, length });
    const end = this.#match(s, p);
    if (end < 0) this.#spans.length = count;
    return end;
  }

  #close(s: number, p: number): number {
    const span = this.#spans.findLast(({ length }) => length === UNCLOSED);
    if (span === undefined) throw new PatternError('invalid pattern capture');
    span.length = s - span.start;
    const end = this.#match(s, p + 1);
    if (end < 0) span.length = UNCLOSED;
    return end;
  }

  /** `%b`, `%f` and back references; a negative place says that they do not fit. */
  #special(s: number, p: number): readonly [number, number] {
    const letter = this.#pattern[p + 1] ?? '';
    if (letter === 'b') return [this.#balanced(s, p + 2), p + 4];
    if (letter === 'f') return this.#frontier(s, p + 2);
    return [this.#backReference(s, letter), p + 2];
  }

  #balanced(s: number, p: number): number {
    const [open, close] = [this.#pattern[p], this.#pattern[p + 1]];
    if (open === undefined || close === undefined) {
      throw new PatternError("malformed pattern (missing arguments to '%b')");
    }
    if (this.#text[s] !== open) return -1;
    let depth = 1;
    for (let at = s + 1; at < this.#text.length; at++) {
      this.#step();
      if (this.#text[at] === close) depth -= 1;
      else if (this.#text[at] === open) depth += 1;
      if (depth === 0) return at + 1;
    }
    return -1;
  }

  #frontier(s: number, p: number): readonly [number, number] {
    if (this.#pattern[p] !== '[') throw new PatternError("missing '[' after '%f' in pattern");
    const end = this.#itemEnd(p);
    const before = s === 0 ? 0 : this.#text.charCodeAt(s - 1);
    const here = s < this.#text.length ? this.#text.charCodeAt(s) : 0;
    const isEdge = !this.#inSet(before, p, end - 1) && this.#inSet(here, p, end - 1);
    return [isEdge ? s : -1, end];
  }

  #backReference(s: number, digit: string): number {
    const index = Number(digit) - 1;
    const span = this.#spans[index];
    if (span === undefined || span.length === UNCLOSED)
      throw new PatternError('invalid capture index');
    const text = this.#text.slice(span.start, span.start + Math.max(0, span.length));
    this.steps += text.length;
    return this.#text.startsWith(text, s) ? s + text.length : -1;
  }

  #most([s, p, end]: readonly [number, number, number], least: number): number {
    let count = 0;
    while (this.#fits(s + count, p, end)) {
      this.#step();
      count += 1;
    }
    for (; count >= least; count--) {
      const found = this.#match(s + count, end + 1);
      if (found >= 0) return found;
    }
    return -1;
  }

  #least(start: number, p: number, end: number): number {
    for (let s = start; ; s++) {
      const found = this.#match(s, end + 1);
      if (found >= 0) return found;
      if (!this.#fits(s, p, end)) return -1;
    }
  }

  #itemEnd(p: number): number {
    const pattern = this.#pattern;
    if (pattern[p] === ESCAPE) {
      if (p + 1 >= pattern.length) throw new PatternError("malformed pattern (ends with '%')");
      return p + 2;
    }
    if (pattern[p] !== '[') return p + 1;
    let at = p + 1;
    if (pattern[at] === '^') at += 1;
    do {
      if (at >= pattern.length) throw new PatternError("malformed pattern (missing ']')");
      at += pattern[at] === ESCAPE ? 2 : 1;
    } while (pattern[at] !== ']');
    return at + 1;
  }

  #fits(s: number, p: number, end: number): boolean {
    if (s >= this.#text.length) return false;
    const code = this.#text.charCodeAt(s);
    const char = this.#pattern[p];
    if (char === '.') return true;
    if (char === ESCAPE) return this.#inClass(code, p + 1);
    if (char === '[') return this.#inSet(code, p, end - 1);
    return this.#pattern.charCodeAt(p) === code;
  }

  #inClass(code: number, p: number): boolean {
    tables ??= makeTables();
    const table = tables.get(this.#pattern[p] ?? '');
    return table === undefined ? this.#pattern.charCodeAt(p) === code : table[code] === 1;
  }

  /** `last` is the place of the closing bracket. */
  #inSet(code: number, p: number, last: number): boolean {
    const pattern = this.#pattern;
    const isInverse = pattern[p + 1] === '^';
    for (let at = isInverse ? p + 2 : p + 1; at < last; at++) {
      this.steps += 1;
      if (pattern[at] === ESCAPE) {
        at += 1;
        if (this.#inClass(code, at)) return !isInverse;
      } else if (pattern[at + 1] === '-' && at + 2 < last) {
        if (pattern.charCodeAt(at) <= code && code <= pattern.charCodeAt(at + 2)) return !isInverse;
        at += 2;
      } else if (pattern.charCodeAt(at) === code) return !isInverse;
    }
    return isInverse;
  }
}
