/**
 * Matches texts by a program in time that is linear in their length, whatever the pattern. Whether
 * a text matches is asked of automata that read it forwards; where a match and its groups lie
 * takes one that reads it backwards, and a walk along what that one saw.
 */
import { DEAD, GOAL, LazyDfa, MARK, UNKNOWN, type DfaKind } from './lazy-dfa.ts';
import { literalPrefix } from './literal-prefix.ts';
import { LoneExits } from './lone-exits.ts';
import { readProgram, type Program } from './program.ts';
import { bytesOf } from './text-bytes.ts';
import { Track } from './track.ts';
import { Walker } from './walk.ts';

/** Bytes that are read before it is asked whether the state waits for one byte. */
const STRIDE = 256;
/** The same behind a skip that passed over as many bytes as make it worthwhile. */
const SHORT_STRIDE = 8;
const WORTHWHILE = 48;

export class LinearMatcher {
  readonly #program: Program;
  readonly #columns: Uint8Array;
  readonly #dfaBytes: number | undefined;
  #whole: LazyDfa | undefined;
  #part: LazyDfa | undefined;
  #last: LazyDfa | undefined;
  #prefix: Buffer | 'none' | undefined;
  #wholeExits: LoneExits | undefined;
  #partExits: LoneExits | undefined;
  #walker: Walker | undefined;
  #track: Track | undefined;
  /** The length of the text that `#run` reads. */
  #length = 0;
  /** Where `#run` stopped, and in which state. */
  #place = 0;
  #state = 0;

  /** `dfaBytes` is what each automaton's tables may take. */
  constructor(programText: string, dfaBytes?: number) {
    this.#dfaBytes = dfaBytes;
    this.#program = readProgram(programText);
    this.#columns = this.#program.columns;
  }

  get captures(): number {
    return this.#program.captures;
  }

  test(text: string): boolean {
    const dfa = this.#wholeDfa();
    this.#length = text.length;
    return this.#run(dfa, dfa.start(this.#program.edge), bytesOf(text), 0) === GOAL;
  }

  search(text: string): boolean {
    if (this.#program.isAnchoredAtEnd) {
      return this.#beginOfLast(bytesOf(text), text.length, true) >= 0;
    }
    this.#length = text.length;
    return this.#reachesMatch(bytesOf(text), text.length, 0);
  }

  /**
   * Visits all matches that do not overlap, in order. `slots` has begin and end of the match and of
   * each group, and is valid during the visit.
   */
  eachMatch(text: string, visit: (slots: Int32Array) => void): void {
    const bytes = bytesOf(text);
    const { length } = text;
    this.#length = length;
    if (this.#program.isAnchoredAtEnd) {
      const begin = this.#beginOfLast(bytes, length, false);
      if (begin >= 0) this.#visitAll(bytes, length, begin, visit);
    } else if (this.#reachesMatch(bytes, length, 0)) {
      const place = this.#visitFirst(bytes, length, visit);
      if (this.#reachesMatch(bytes, length, place)) this.#visitAll(bytes, length, place, visit);
    }
    this.#track?.clear();
  }

  /** Visits the first match, which ends at `#place` or behind; returns where to look on. */
  #visitFirst(bytes: Uint8Array, length: number, visit: (slots: Int32Array) => void): number {
    // What begins up to here ends before the place where nothing goes on.
    const whole = this.#wholeDfa();
    const part = this.#partDfa();
    const kernel = part.kernelOf(this.#state);
    const state = whole.stateOf(kernel, part.contextOf(this.#state));
    this.#run(whole, state, bytes, this.#place);
    const { track, walker } = this.#walking();
    walker.slots.fill(-1);
    track.read(bytes, length, 0, this.#place);
    return this.#visitAt(track.nextStart(0), visit);
  }

  /** Visits what is left after one reading, however many matches there are. */
  #visitAll(
    bytes: Uint8Array,
    length: number,
    from: number,
    visit: (slots: Int32Array) => void,
  ): void {
    const { track, walker } = this.#walking();
    if (this.#program.isAnchoredAtEnd) walker.slots.fill(-1);
    track.read(bytes, length, from, length);
    for (let start = track.nextStart(from); start >= 0;) {
      start = track.nextStart(this.#visitAt(start, visit));
    }
  }

  /**
   * Walks the match; returns where to look for the next one. The slots are those of the last one.
   */
  #visitAt(start: number, visit: (slots: Int32Array) => void): number {
    const { walker } = this.#walking();
    const lastEnd = walker.slots[1] ?? -1;
    walker.walk(start);
    const end = walker.slots[1] ?? start;
    // As RE2: an empty match right behind the match before is none.
    if (start !== end || start !== lastEnd) visit(walker.slots);
    return start === end ? end + 1 : end;
  }

  /** Where the longest match that ends with the text begins (with `anyWill`, some match); or -1. */
  #beginOfLast(bytes: Uint8Array, length: number, anyWill: boolean): number {
    const { columns, columnCount, edge } = this.#program;
    this.#last ??= this.#automaton({
      backward: true,
      everywhere: false,
      goal: 'marks',
    });
    const dfa = this.#last;
    let state = dfa.start(edge);
    let { table } = dfa;
    let begin = -1;
    let place = length;
    for (; place >= 0; place--) {
      const column = place === 0 ? columnCount : (columns[bytes[place - 1] ?? 0] ?? 0);
      let next = table[state + column] ?? UNKNOWN;
      if (next === UNKNOWN) {
        next = dfa.step(state, column);
        ({ table } = dfa);
      }
      if (next === GOAL || (dfa.contextOf(next) & MARK) !== 0) begin = place;
      if (next <= DEAD || (anyWill && begin >= 0)) break;
      state = next;
    }
    dfa.countBytes(length - place);
    return begin;
  }

  /** Whether there is a match from the place on; `#place` is then where the first one ends. */
  #reachesMatch(bytes: Uint8Array, length: number, from: number): boolean {
    const { contexts, edge, isAnchored } = this.#program;
    if (from > length || (from > 0 && isAnchored)) return false;
    const begin = this.#skipToPrefix(bytes, length, from);
    if (begin < 0) return false;
    const column = this.#columns[bytes[begin - 1] ?? 0] ?? 0;
    const dfa = this.#partDfa();
    const start = dfa.start(begin === 0 ? edge : (contexts[column] ?? 0));
    return this.#run(dfa, start, bytes, begin) === GOAL;
  }

  /** Where the first match from the place on may begin; -1: nowhere. */
  #skipToPrefix(bytes: Uint8Array, length: number, from: number): number {
    if (length - from < STRIDE) return from;
    this.#prefix ??= literalPrefix(this.#program) ?? 'none';
    if (this.#prefix === 'none') return from;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    return text.indexOf(this.#prefix, from);
  }

  /** Reads until GOAL or DEAD, which the text's end always brings. */
  #run(dfa: LazyDfa, start: number, bytes: Uint8Array, from: number): number {
    const length = this.#length;
    let next = start;
    this.#place = from;
    this.#state = start;
    let stride = STRIDE;
    let text: Uint8Array | undefined;
    while (this.#place < length) {
      const before = this.#state;
      next = this.#read(dfa, bytes, Math.min(length, this.#place + stride));
      if (next <= DEAD) break;
      stride = STRIDE;
      // A state that lasts may be one that waits for one byte.
      if (before !== next || this.#place >= length) continue;
      text ??= bytes.subarray(0, length);
      const place = this.#exitsOf(dfa).skip(next, text, this.#place);
      if (place - this.#place >= WORTHWHILE) stride = SHORT_STRIDE;
      this.#place = place;
    }
    if (this.#place === length && next > DEAD) {
      const { columnCount } = this.#program;
      next = dfa.table[this.#state + columnCount] ?? UNKNOWN;
      if (next === UNKNOWN) next = dfa.step(this.#state, columnCount);
    }
    dfa.countBytes(this.#place - from);
    return next;
  }

  /** Reads from `#place` and `#state` on up to `end`, or to the byte that brings GOAL or DEAD. */
  #read(dfa: LazyDfa, bytes: Uint8Array, end: number): number {
    const columns = this.#columns;
    let { table } = dfa;
    let state = this.#state;
    let place = this.#place;
    let next = state;
    for (; place < end; place++) {
      const column = columns[bytes[place] ?? 0] ?? 0;
      next = table[state + column] ?? UNKNOWN;
      if (next <= DEAD) {
        if (next === UNKNOWN) {
          next = dfa.step(state, column);
          ({ table } = dfa);
        }
        if (next <= DEAD) break;
      }
      state = next;
    }
    this.#place = place;
    this.#state = state;
    return next;
  }

  #exitsOf(dfa: LazyDfa): LoneExits {
    if (dfa === this.#part) return (this.#partExits ??= new LoneExits(this.#program, dfa));
    return (this.#wholeExits ??= new LoneExits(this.#program, dfa));
  }

  #wholeDfa(): LazyDfa {
    this.#whole ??= this.#automaton({
      backward: false,
      everywhere: false,
      goal: 'at_end',
    });
    return this.#whole;
  }

  #partDfa(): LazyDfa {
    this.#part ??= this.#automaton({
      backward: false,
      everywhere: !this.#program.isAnchored,
      goal: 'stops',
    });
    return this.#part;
  }

  #automaton(kind: DfaKind): LazyDfa {
    return new LazyDfa(this.#program, kind, this.#dfaBytes);
  }

  #walking(): { readonly track: Track; readonly walker: Walker } {
    const program = this.#program;
    const backward = { backward: true, everywhere: true, goal: 'marks' } as const;
    this.#track ??= new Track(program, this.#automaton(backward));
    this.#walker ??= new Walker(program, this.#track);
    return { track: this.#track, walker: this.#walker };
  }
}
