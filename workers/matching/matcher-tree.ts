/**
 * Compiles matcher trees: from a request to what the first leaf that it comes to holds. A branch
 * with `keep_matching` is passed by, as one that leads nowhere.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import { compileIpRanges, IpRanges } from '../../shared/addresses/ip-ranges.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import { compileValueMatcher } from './value-matcher.ts';
import type {
  MatcherTree,
  MatchPredicate,
  OnMatch,
  ValueMatch,
} from '../../shared/resources/routes/matcher-tree.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { StreamInfo } from '../stream/stream-info.ts';
import { compileCelCondition } from '../cel/compile-cel.ts';
import { xxHash64 } from '../hash/xxhash64.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import { compileMatchInput } from './match-inputs.ts';

/** Undefined when nothing matched. */
export type TreeMatcher<Result> = (headers: HeaderMap, info: StreamInfo) => Result | undefined;

type Predicate = (headers: HeaderMap, info: StreamInfo) => boolean;

export function compileMatcherTree<Action, Result>(
  tree: MatcherTree<Action>,
  compileAction: (action: Action) => Result,
  runtime: Runtime,
): TreeMatcher<Result> {
  const next = (onMatch: OnMatch<Action>): TreeMatcher<Result> =>
    compileOnMatch(onMatch, compileAction, runtime);
  const matches = compileBranches(tree, next, runtime);
  if (tree.onNoMatch === undefined) return matches;
  const otherwise = next(tree.onNoMatch);
  return (headers, info) => matches(headers, info) ?? otherwise(headers, info);
}

function compileOnMatch<Action, Result>(
  onMatch: OnMatch<Action>,
  compileAction: (action: Action) => Result,
  runtime: Runtime,
): TreeMatcher<Result> {
  if (onMatch.keepMatching) return () => undefined;
  if (onMatch.kind === 'matcher') {
    return compileMatcherTree(onMatch.matcher, compileAction, runtime);
  }
  const result = compileAction(onMatch.action);
  return () => result;
}

function compileBranches<Action, Result>(
  tree: MatcherTree<Action>,
  next: (onMatch: OnMatch<Action>) => TreeMatcher<Result>,
  runtime: Runtime,
): TreeMatcher<Result> {
  switch (tree.kind) {
    case 'list': {
      const fields = tree.matchers.map(({ predicate, onMatch }) => ({
        fits: compilePredicate(predicate, runtime),
        match: next(onMatch),
      }));
      return (headers, info) => {
        for (const { fits, match } of fields) {
          const result = fits(headers, info) ? match(headers, info) : undefined;
          if (result !== undefined) return result;
        }
        return undefined;
      };
    }
    case 'exact': {
      const read = compileMatchInput(tree.input);
      const branches = new Map(tree.branches.map(({ key, onMatch }) => [key, next(onMatch)]));
      return (headers, info) => {
        const value = read(headers, info);
        return typeof value === 'string' ? branches.get(value)?.(headers, info) : undefined;
      };
    }
    case 'prefix': {
      const read = compileMatchInput(tree.input);
      const branches = tree.branches
        .map(({ key, onMatch }) => ({ key, match: next(onMatch) }))
        .toSorted((one, other) => other.key.length - one.key.length);
      return (headers, info) => {
        const value = read(headers, info);
        if (typeof value !== 'string') return undefined;
        return firstOf(branches, ({ key }) => value.startsWith(key), headers, info);
      };
    }
    case 'address':
      return compileAddressTree(tree, next);
  }
}

interface Branch<Result> {
  readonly match: TreeMatcher<Result>;
}

function firstOf<Result, One extends Branch<Result>>(
  branches: readonly One[],
  fits: (branch: One) => boolean,
  headers: HeaderMap,
  info: StreamInfo,
): Result | undefined {
  for (const branch of branches) {
    const result = fits(branch) ? branch.match(headers, info) : undefined;
    if (result !== undefined) return result;
  }
  return undefined;
}

/**
 * The narrowest range decides first; an exclusive one only where no narrower one holds the address.
 */
function compileAddressTree<Action, Result>(
  { input, branches }: Extract<MatcherTree<Action>, { readonly kind: 'address' }>,
  next: (onMatch: OnMatch<Action>) => TreeMatcher<Result>,
): TreeMatcher<Result> {
  const read = compileMatchInput(input);
  const ranges = new IpRanges<{
    readonly match: TreeMatcher<Result>;
    readonly exclusive: boolean;
  }>();
  for (const { ranges: own, onMatch, exclusive } of branches) {
    const match = next(onMatch);
    for (const range of own) ranges.add(range, { match, exclusive });
  }
  return (headers, info) => {
    const ip = read(headers, info);
    if (typeof ip !== 'string') return undefined;
    let isNarrowest = true;
    for (const { match, exclusive } of ranges.find(ip)) {
      const result = exclusive && !isNarrowest ? undefined : match(headers, info);
      if (result !== undefined) return result;
      isNarrowest = false;
    }
    return undefined;
  };
}

function compilePredicate(predicate: MatchPredicate, runtime: Runtime): Predicate {
  switch (predicate.kind) {
    case 'and': {
      const all = predicate.predicates.map((one) => compilePredicate(one, runtime));
      return (headers, info) => all.every((fits) => fits(headers, info));
    }
    case 'or': {
      const some = predicate.predicates.map((one) => compilePredicate(one, runtime));
      return (headers, info) => some.some((fits) => fits(headers, info));
    }
    case 'not': {
      const fits = compilePredicate(predicate.predicate, runtime);
      return (headers, info) => !fits(headers, info);
    }
    case 'single': {
      const read = compileMatchInput(predicate.input);
      const matches = VALUE_MATCHES.make(predicate.match, runtime);
      return (headers, info) => matches(read(headers, info));
    }
  }
}

const VALUE_MATCHES = new KindTable<ValueMatch, [Runtime], (value: unknown) => boolean>({
  cel: ({ expression }) => {
    const holds = compileCelCondition(expression);
    // The supervisor lets expressions match attributes alone, which are the stream itself.
    return (value) => value instanceof StreamInfo && holds(value);
  },
  string: ({ matcher }) => {
    const matches = compileStringMatcher(matcher);
    return (value) => typeof value === 'string' && matches(value);
  },
  address: ({ ranges }) => {
    const contains = compileIpRanges(ranges);
    return (value) => typeof value === 'string' && contains(value);
  },
  value: ({ matcher, invert }) => {
    const matches = compileValueMatcher(matcher);
    return (value) => matches(value) !== invert;
  },
  runtime_fraction:
    ({ fraction }, runtime) =>
    () =>
      isEnabled(fraction, runtime, runtime.random()),
  consistent_hashing:
    ({ threshold, modulo, seed }) =>
    (value) => {
      if (typeof value !== 'string') return false;
      const { high, low } = xxHash64(value, seed);
      return Number(((BigInt(high) << 32n) | BigInt(low)) % BigInt(modulo)) >= threshold;
    },
});
