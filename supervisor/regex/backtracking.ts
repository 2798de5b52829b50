/**
 * How much work a backtracking engine may have with a pattern: an upper bound of the steps it
 * makes, found on the tree from the end to the beginning. A step is one visit of a node at a place.
 *
 * Of what follows a node (its continuation) four things are known: which bytes it can begin with,
 * whether it is sure to match, what trying it costs, and what it costs where it fails at once
 * because of the first byte. From these:
 *
 * - One byte, then k: one step and k.
 * - `C*`, then k, where C is a class: the loop may be left at each place of a run of C.
 *   - k is sure to match: it is left once. The same holds where the run goes on to the text's end, whatever
 *     the text (`(?s).*`), it is greedy, and k is sure to match there.
 *   - k begins with no byte of C: k fails at once everywhere but at the run's end. Linear work, and k once.
 *   - otherwise k is tried at each place: one degree more.
 * - `a|b`, then k: both may be tried; where no byte begins both, one of them fails at once.
 * - `(X)*`, then k, for other X: only where X takes at least a byte, each choice within it and that of
 *   going round again is decided by the next byte. Then each byte is taken once. Else there is no
 * bound.
 * - A counted repetition is written out.
 *
 * A search tries the pattern at each place, which is one degree more, unless it is bound to the
 * beginning. Of a search for all matches more can be said where no way is tried in vain
 * (`isStraight`): what a match read it also took, so only tries that fail count at each place.
 */
import { areApart, firstOf, NO_BYTES, overlaps, union } from './first-bytes.ts';
import { atEachPlace, inTurn, plus, steps, UNBOUNDED, type Growth } from './growth.ts';
import {
  ALL_BYTES,
  beginsWithText,
  firstBytes,
  isNullable,
  setsOf,
  singleSet,
  sizeOfTree,
  takesEveryByte,
} from './tree-facts.ts';
import { isLazy, type RegexNode } from './tree.ts';
import {
  type Rest,
  NOTHING,
  ACCEPT,
  END,
  NO_BOUND,
  NO_CHOICE,
  isBounded,
  bytes,
  costing,
  assertion,
  choice,
  runOf,
} from './rest-of-pattern.ts';

export interface Assumptions {
  /** Only texts without a line feed are matched, so that `.` takes any byte. */
  readonly oneLine: boolean;
}

/** A bound for each way to ask. */
export interface BacktrackingBounds {
  /** Whether the whole text matches. */
  readonly whole: Growth;
  /** Whether some part of it matches. */
  readonly part: Growth;
  /** All matches. */
  readonly every: Growth;
}

export function backtrackingBounds(root: RegexNode, assumptions: Assumptions): BacktrackingBounds {
  const analysis = new Analysis(assumptions);
  const whole = analysis.before(root, END);
  const part = analysis.before(root, ACCEPT);
  if (beginsWithText(root)) {
    const once = plus(part.cost, [0, part.probe + 1, 0]);
    return { whole: whole.cost, part: once, every: once };
  }
  const failing = atEachPlace(plus(part.failing, steps(1)));
  return {
    whole: whole.cost,
    part: plus(failing, part.cost),
    every: part.isStraight
      ? plus(failing, shared(part.cost))
      : atEachPlace(plus(part.cost, steps(1))),
  };
}

/** All matches together read no more than the text, and each costs something by itself. */
function shared([constant, linear]: Growth): Growth {
  return [constant, constant + 2 * linear, 0];
}

/** V8 keeps more for each round of such a loop than for a byte of a run. */
const ROUND_WEIGHT = 4;

class Analysis {
  readonly #oneLine: boolean;

  constructor({ oneLine }: Assumptions) {
    this.#oneLine = oneLine;
  }

  /** What stands from the node on, given what stands behind it. */
  before(node: RegexNode, rest: Rest): Rest {
    if (rest.cost[0] === Infinity) return rest;
    switch (node.op) {
      case 'empty':
        return rest;
      case 'nothing':
        return { ...END, first: NO_BYTES, isSureAtEnd: false };
      case 'any':
        return bytes([ALL_BYTES], rest);
      case 'class':
        return bytes([node.set], rest);
      case 'literal':
        return bytes(setsOf(node), rest);
      case 'capture':
        return costing(this.before(node.sub, costing(rest, 1)), 1);
      case 'concat':
        return node.subs.reduceRight((after, sub) => this.before(sub, after), rest);
      case 'alternate':
        return choice(node.subs.map((sub) => this.before(sub, rest)));
      case 'quest':
        return choice([this.before(node.sub, rest), rest]);
      case 'star':
        return this.#star(node, rest);
      case 'plus':
        return this.before(node.sub, this.#star(node, rest));
      case 'repeat':
        return this.#repeat(node, rest);
      default:
        return assertion(node.op, rest);
    }
  }

  #star(node: Repetition, rest: Rest): Rest {
    const set = singleSet(node.sub);
    if (set === undefined) return this.#loop(node, rest);
    const isApart = !overlaps(firstOf(set), rest.first);
    const takesAll = takesEveryByte(set, this.#oneLine);
    const endsSurely = takesAll && !isLazy(node) && rest.isSureAtEnd;
    return runOf(set, rest, { isApart, takesAll, endsSurely, places: undefined });
  }

  /** A loop over more than one byte at a time. */
  #loop(node: Repetition, rest: Rest): Rest {
    const body = node.sub;
    if (isNullable(body)) return NO_BOUND;
    const first = union(firstBytes(body), rest.first);
    const again: Rest = { ...NO_CHOICE, first, cost: steps(1), probe: rest.probe + 2 };
    const isDecided = this.#isDecided(body, again) && !overlaps(firstBytes(body), rest.first);
    const [perRound, perByte, beyond] = isDecided ? this.before(body, again).cost : UNBOUNDED;
    if (beyond > 0) return NO_BOUND;
    const round = ROUND_WEIGHT * (perRound + perByte + rest.probe + 2);
    const reading: Growth = [round, round, 0];
    return {
      first: again.first,
      isSure: rest.isSure,
      isSureAtEnd: rest.isSureAtEnd,
      cost: inTurn(reading, rest.cost),
      failing: rest.isSure ? NOTHING : inTurn(reading, rest.failing),
      probe: sizeOfTree(body) + 1 + rest.probe,
      // A round that fails on its way was tried in vain.
      isStraight: false,
    };
  }

  /** Whether the next byte alone decides each choice within the node. */
  #isDecided(node: RegexNode, rest: Rest): boolean {
    switch (node.op) {
      case 'capture':
        return this.#isDecided(node.sub, rest);
      case 'concat':
        return this.#areDecided(node.subs, rest);
      case 'alternate':
        return (
          areApart(node.subs.map((sub) => firstBytes(sub, rest.first))) &&
          node.subs.every((sub) => this.#isDecided(sub, rest))
        );
      case 'quest':
      case 'star':
      case 'plus': {
        if (isNullable(node.sub) || overlaps(firstBytes(node.sub), rest.first)) return false;
        const first = union(firstBytes(node.sub), rest.first);
        return this.#isDecided(node.sub, node.op === 'quest' ? rest : { ...rest, first });
      }
      case 'repeat':
        return node.min === node.max && this.#areDecided(copies(node.sub, node.max), rest);
      default:
        return true;
    }
  }

  #areDecided(subs: readonly RegexNode[], rest: Rest): boolean {
    let after = rest;
    for (const sub of subs.toReversed()) {
      if (!this.#isDecided(sub, after)) return false;
      after = { ...after, first: firstBytes(sub, after.first) };
    }
    return true;
  }

  #repeat(node: Extract<RegexNode, { readonly op: 'repeat' }>, rest: Rest): Rest {
    const { sub, min, max } = node;
    let after = rest;
    if (max === -1) {
      after = this.#star(node, rest);
    } else if (max > min) {
      const set = singleSet(sub);
      // Each copy that may be left out leads to the same rest.
      if (set === undefined) after = this.#optional(sub, max - min, rest);
      else {
        const isApart = !overlaps(firstOf(set), rest.first);
        const run = { isApart, takesAll: false, endsSurely: false, places: max - min };
        after = runOf(set, rest, run);
      }
    }
    for (let copy = 0; copy < min && isBounded(after); copy++) {
      after = costing(this.before(sub, after), 1);
    }
    return after;
  }

  /** `(X(X(X)?)?)?`, then the rest. */
  #optional(sub: RegexNode, count: number, rest: Rest): Rest {
    let after = rest;
    for (let copy = 0; copy < count && isBounded(after); copy++) {
      after = choice([this.before(sub, after), rest]);
    }
    return after;
  }
}

type Repetition = Extract<RegexNode, { readonly sub: RegexNode }>;

function copies(node: RegexNode, count: number): RegexNode[] {
  return Array.from({ length: count }, () => node);
}
