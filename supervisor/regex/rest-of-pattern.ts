/**
 * What stands from a node of a pattern to its end: the bounds of what that costs, and how they are
 * put together.
 */
import { ANYTHING, areApart, firstOf, TEXT_END, union, type FirstBytes } from './first-bytes.ts';
import {
  atEachPlace,
  either,
  inTurn,
  plus,
  steps,
  times,
  UNBOUNDED,
  type Growth,
} from './growth.ts';
import type { ByteSet, RegexNode } from './tree.ts';

/** What stands from a node to the pattern's end. */
export interface Rest {
  readonly first: FirstBytes;
  /** Matches at every place. */
  readonly isSure: boolean;
  /** Matches at the text's end. */
  readonly isSureAtEnd: boolean;
  readonly cost: Growth;
  /** The cost of a try that fails. */
  readonly failing: Growth;
  /** The cost where the first byte makes it fail. */
  readonly probe: number;
  readonly isStraight: boolean;
}

export const NOTHING: Growth = steps(0);

/** The end of the pattern where any match will do. */
export const ACCEPT: Rest = {
  first: ANYTHING,
  isSure: true,
  isSureAtEnd: true,
  cost: steps(1),
  failing: NOTHING,
  probe: 1,
  isStraight: true,
};

/** The end of the pattern where the whole text has to match. */
export const END: Rest = {
  first: TEXT_END,
  isSure: false,
  isSureAtEnd: true,
  cost: steps(1),
  failing: steps(1),
  probe: 1,
  isStraight: true,
};

export const NO_BOUND: Rest = {
  ...END,
  first: ANYTHING,
  isSureAtEnd: false,
  cost: UNBOUNDED,
  failing: UNBOUNDED,
  isStraight: false,
};

export const NO_CHOICE: Rest = { ...END, isSureAtEnd: false };

export function isBounded({ cost }: Rest): boolean {
  return cost[0] !== Infinity;
}

export function bytes(sets: readonly ByteSet[], rest: Rest): Rest {
  const [head = []] = sets;
  return {
    ...rest,
    first: firstOf(head),
    isSure: false,
    isSureAtEnd: false,
    cost: plus(steps(sets.length), rest.cost),
    failing: plus(steps(sets.length), rest.failing),
    probe: 1,
  };
}

export function costing(rest: Rest, count: number): Rest {
  const failing = rest.isSure ? NOTHING : plus(rest.failing, steps(count));
  return { ...rest, cost: plus(rest.cost, steps(count)), failing, probe: rest.probe + count };
}

export function assertion(op: RegexNode['op'], rest: Rest): Rest {
  const isEnd = op === 'end_text';
  return {
    ...rest,
    first: isEnd ? END.first : rest.first,
    isSure: false,
    isSureAtEnd: isEnd && rest.isSureAtEnd,
    cost: plus(rest.cost, steps(1)),
    failing: plus(rest.failing, steps(1)),
    probe: rest.probe + 1,
  };
}

export function choice(ways: readonly Rest[]): Rest {
  const [only] = ways;
  if (only !== undefined && ways.length === 1) return only;
  const isApart = areApart(ways.map(({ first }) => first));
  const probes = ways.reduce((sum, { probe }) => sum + probe + 1, 0);
  const isSure = ways.some((way) => way.isSure);
  const failing = ways.map((way) => way.failing);
  const inVain = isApart ? failing.reduce(either, NOTHING) : plus(...failing);
  return {
    first: ways.map(({ first }) => first).reduce(union),
    isSure,
    isSureAtEnd: ways.some((way) => way.isSureAtEnd),
    // One way at most leads to a match; the others are tried in vain.
    cost: plus(
      isApart ? NOTHING : inVain,
      ways.map(({ cost }) => cost).reduce(either),
      steps(probes),
    ),
    failing: isSure ? NOTHING : plus(inVain, steps(probes)),
    probe: probes,
    isStraight: isApart && ways.every((way) => way.isStraight),
  };
}

interface Run {
  readonly isApart: boolean;
  /** Goes on to the text's end, whatever the text. */
  readonly takesAll: boolean;
  readonly endsSurely: boolean;
  /** How many bytes it takes at most; absent, all of them. */
  readonly places: number | undefined;
}

/** A run of bytes of one class, then the rest. */
export function runOf(set: ByteSet, rest: Rest, run: Run): Rest {
  const each = (growth: Growth): Growth =>
    run.places === undefined ? plus(growth, atEachPlace(growth)) : times(growth, run.places + 1);
  const isSure = rest.isSure || (run.takesAll && rest.isSureAtEnd);
  const isOnce = run.isApart || rest.isSure || run.endsSurely;
  const reading = each(steps(2 + (run.isApart ? rest.probe : 0)));
  return {
    first: union(firstOf(set), rest.first),
    isSure,
    isSureAtEnd: rest.isSureAtEnd,
    // What follows matches once at most: every other try of it fails.
    cost: isOnce ? inTurn(reading, rest.cost) : plus(reading, each(rest.failing), rest.cost),
    failing: isSure
      ? NOTHING
      : isOnce
        ? inTurn(reading, rest.failing)
        : plus(reading, each(rest.failing)),
    probe: 2 + rest.probe,
    isStraight: isOnce && rest.isStraight,
  };
}
