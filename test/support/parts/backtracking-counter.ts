/**
 * Matches as a backtracking engine does, straight from the tree, and counts its steps: a step is
 * one visit of a node, or of a byte of a literal, at a place of the text.
 */
import { setOf } from '../../../supervisor/regex/byte-set.ts';
import { FOLD_CASE, isLazy, type ByteSet, type RegexNode } from '../../../supervisor/regex/tree.ts';

class TooManySteps extends Error {}

export class BacktrackingCounter {
  readonly #root: RegexNode;
  readonly #text: string;
  readonly #limit: number;
  steps = 0;

  constructor(root: RegexNode, text: string, limit: number) {
    this.#root = root;
    this.#text = text;
    this.#limit = limit;
  }

  whole(): boolean {
    return this.#try(this.#root, 0, (place) => this.#step() && place === this.#text.length);
  }

  /** Where the first match from the place on ends, and where it begins. */
  part(from = 0): readonly [start: number, end: number] | undefined {
    for (let start = from; start <= this.#text.length; start++) {
      let end = -1;
      const isMatch = this.#try(this.#root, start, (place) => {
        this.#step();
        end = place;
        return true;
      });
      if (isMatch) return [start, end];
    }
    return undefined;
  }

  every(): void {
    let match = this.part(0);
    while (match !== undefined) {
      const [start, end] = match;
      if (end >= this.#text.length) return;
      match = this.part(start === end ? end + 1 : end);
    }
  }

  #step(): true {
    this.steps += 1;
    if (this.steps > this.#limit) throw new TooManySteps();
    return true;
  }

  #try(node: RegexNode, place: number, rest: (place: number) => boolean): boolean {
    switch (node.op) {
      case 'literal':
        return this.#literal(node, place, rest);
      case 'capture':
        return this.#step() && this.#try(node.sub, place, (end) => this.#step() && rest(end));
      case 'concat':
        return this.#sequence(node.subs, 0, place, rest);
      case 'alternate':
        return node.subs.some((sub) => this.#step() && this.#try(sub, place, rest));
      case 'star':
      case 'plus':
      case 'quest':
      case 'repeat':
        return this.#repeat(node, 0, place, rest);
      default:
        return this.#simple(node, place, rest);
    }
  }

  #simple(node: RegexNode, place: number, rest: (place: number) => boolean): boolean {
    if (node.op === 'empty') return rest(place);
    this.#step();
    if (node.op === 'nothing') return false;
    if (node.op === 'any') return place < this.#text.length && rest(place + 1);
    if (node.op === 'class') return this.#has(node.set, place) && rest(place + 1);
    return this.#holds(node.op, place) && rest(place);
  }

  #literal(
    node: Extract<RegexNode, { readonly op: 'literal' }>,
    place: number,
    rest: (place: number) => boolean,
  ): boolean {
    for (let index = 0; index < node.text.length; index++) {
      this.#step();
      const set = setOf(node.text.charCodeAt(index), (node.flags & FOLD_CASE) !== 0);
      if (!this.#has(set, place + index)) return false;
    }
    return rest(place + node.text.length);
  }

  #sequence(
    subs: readonly RegexNode[],
    index: number,
    place: number,
    rest: (place: number) => boolean,
  ): boolean {
    const sub = subs[index];
    if (sub === undefined) return rest(place);
    return this.#try(sub, place, (end) => this.#sequence(subs, index + 1, end, rest));
  }

  #repeat(
    node: Extract<RegexNode, { readonly sub: RegexNode }>,
    round: number,
    place: number,
    rest: (place: number) => boolean,
  ): boolean {
    const min = node.op === 'repeat' ? node.min : node.op === 'plus' ? 1 : 0;
    const bound = node.op === 'repeat' ? node.max : node.op === 'quest' ? 1 : -1;
    if (round === bound) return rest(place);
    if (round >= min) this.#step();
    const again = (): boolean =>
      this.#try(node.sub, place, (end) =>
        // A round that takes nothing ends the loop, unless it has to be made.
        end === place && round >= min ? false : this.#repeat(node, round + 1, end, rest),
      );
    if (round < min) return again();
    return isLazy(node) ? rest(place) || again() : again() || rest(place);
  }

  #has(set: ByteSet, place: number): boolean {
    const byte = this.#text.charCodeAt(place);
    return set.some(([first, last]) => first <= byte && byte <= last);
  }

  #holds(op: RegexNode['op'], place: number): boolean {
    const isWord = (at: number): boolean => /\w/.test(this.#text.charAt(at));
    switch (op) {
      case 'begin_text':
        return place === 0;
      case 'end_text':
        return place === this.#text.length;
      case 'begin_line':
        return place === 0 || this.#text[place - 1] === '\n';
      case 'end_line':
        return place === this.#text.length || this.#text[place] === '\n';
      case 'word_boundary':
        return isWord(place - 1) !== isWord(place);
      default:
        return isWord(place - 1) === isWord(place);
    }
  }
}
