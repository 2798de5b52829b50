/**
 * Resolves xds.type.matcher.v3.Matcher for callers with actions to choose among. Which inputs make
 * sense and what an action is are the caller's to say.
 */
import type {
  Matcher,
  Matcher_MatcherList_Predicate as PredicateMessage,
  Matcher_MatcherTree as TreeMessage,
  Matcher_OnMatch as OnMatchMessage,
} from '../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type { IPMatcher } from '../../../shared/api/generated/xds/type/matcher/v3/ip.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type {
  MatcherTree,
  MatchInput,
  MatchPredicate,
  OnMatch,
} from '../../../shared/resources/routes/matcher-tree.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveRanges } from './filter-state-matcher.ts';
import { MATCH_INPUTS, VALUE_MATCHERS } from './match-inputs.ts';
import { resolveStringMatcher } from './string-matcher.ts';

export interface MatcherTreeRules<Action> {
  /** Undefined after a reported problem. */
  resolveAction(message: ExtensionMessage, scope: Scope): Action | undefined;
  /** Absent: whatever can be known of a request. */
  readonly inputs?: ExtensionRegistry<MatchInput>;
  /** Reports an input that is of no use here. */
  checkInput(typeUrl: string, scope: Scope): void;
  /** Why `keep_matching` is refused; absent where it is not. */
  readonly keepMatchingProblem?: string;
}

export function resolveMatcherTree<Action>(
  message: Matcher,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatcherTree<Action> | undefined {
  const { on_no_match: otherwise } = message;
  const onNoMatch = otherwise && resolveOnMatch(otherwise, rules, scope.at('on_no_match'));
  const tree =
    message.matcher_tree === undefined
      ? resolveList(message, rules, scope.at('matcher_list', 'matchers'))
      : resolveTree(message.matcher_tree, rules, scope.at('matcher_tree'));
  return tree && { ...tree, ...optional('onNoMatch', onNoMatch) };
}

function resolveOnMatch<Action>(
  message: OnMatchMessage,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): OnMatch<Action> | undefined {
  const keepMatching = message.keep_matching ?? false;
  if (keepMatching && rules.keepMatchingProblem !== undefined) {
    scope.at('keep_matching').error('conflict', rules.keepMatchingProblem);
  }
  if (message.matcher !== undefined) {
    const matcher = resolveMatcherTree(message.matcher, rules, scope.at('matcher'));
    return matcher && { kind: 'matcher', matcher, keepMatching };
  }
  const action = rules.resolveAction(message.action ?? {}, scope.at('action'));
  return action === undefined ? undefined : { kind: 'action', action, keepMatching };
}

function resolveList<Action>(
  { matcher_list: list }: Matcher,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatcherTree<Action> {
  const matchers = (list?.matchers ?? []).flatMap((field, index) => {
    const place = scope.at(index);
    const predicate = resolvePredicate(field.predicate ?? {}, rules, place.at('predicate'));
    const onMatch = resolveOnMatch(field.on_match ?? {}, rules, place.at('on_match'));
    return predicate === undefined || onMatch === undefined ? [] : [{ predicate, onMatch }];
  });
  return { kind: 'list', matchers };
}

function resolvePredicate<Action>(
  message: PredicateMessage,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatchPredicate | undefined {
  for (const kind of ['and', 'or'] as const) {
    const combined = message[`${kind}_matcher`];
    if (combined === undefined) continue;
    const place = scope.at(`${kind}_matcher`, 'predicate');
    const predicates = (combined.predicate ?? []).map((one, index) =>
      resolvePredicate(one, rules, place.at(index)),
    );
    return { kind, predicates: predicates.filter((predicate) => predicate !== undefined) };
  }
  if (message.not_matcher !== undefined) {
    const predicate = resolvePredicate(message.not_matcher, rules, scope.at('not_matcher'));
    return predicate && { kind: 'not', predicate };
  }
  return resolveSingle(message.single_predicate ?? {}, rules, scope.at('single_predicate'));
}

function resolveSingle<Action>(
  message: NonNullable<PredicateMessage['single_predicate']>,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatchPredicate | undefined {
  const input = resolveInput(message.input, rules, scope.at('input'));
  if (message.custom_match !== undefined) {
    const match = VALUE_MATCHERS.resolve(message.custom_match, scope.at('custom_match'));
    if (input === undefined || match === undefined) return undefined;
    if ((input.kind === 'attributes') !== (match.kind === 'cel')) {
      const problem = 'expressions match attributes, and nothing else matches these';
      scope.at('custom_match').error('conflict', problem);
    }
    return { kind: 'single', input, match };
  }
  const matcher = resolveStringMatcher(message.value_match ?? {}, scope.at('value_match'));
  return input && matcher && { kind: 'single', input, match: { kind: 'string', matcher } };
}

function resolveInput<Action>(
  message: ExtensionMessage | undefined,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatchInput | undefined {
  const input = (rules.inputs ?? MATCH_INPUTS).resolve(message ?? {}, scope);
  if (input !== undefined) rules.checkInput(message?.typed_config?.['@type'] ?? '', scope);
  return input;
}

function resolveTree<Action>(
  message: TreeMessage,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatcherTree<Action> | undefined {
  const input = resolveInput(message.input, rules, scope.at('input'));
  if (message.custom_match !== undefined) {
    const custom = CUSTOM_TREES.resolve(message.custom_match, scope.at('custom_match'));
    const place = scope.at('custom_match', 'typed_config', 'range_matchers');
    return input && custom && resolveAddressTree(input, custom, rules, place);
  }
  const kind = message.exact_match_map === undefined ? 'prefix' : 'exact';
  const field = `${kind}_match_map` as const;
  const map = message[field]?.map ?? {};
  const branches = Object.entries(map).flatMap(([key, value]) => {
    const onMatch = resolveOnMatch(value, rules, scope.at(field, 'map', key));
    return onMatch === undefined ? [] : [{ key: toByteString(key), onMatch }];
  });
  return input && { kind, input, branches };
}

/** Trees with an order of their own. */
const CUSTOM_TREES = new ExtensionRegistry<IPMatcher>(
  'envoy.matching.custom_matchers',
  'custom matcher',
  [
    extension(
      'envoy.matching.custom_matchers.ip_range_matcher',
      'xds.type.matcher.v3.IPMatcher',
      (message: IPMatcher) => message,
    ),
  ],
);

function resolveAddressTree<Action>(
  input: MatchInput,
  { range_matchers: matchers = [] }: IPMatcher,
  rules: MatcherTreeRules<Action>,
  scope: Scope,
): MatcherTree<Action> {
  const branches = matchers.flatMap((matcher, index) => {
    const place = scope.at(index);
    const ranges = resolveRanges(matcher.ranges, place.at('ranges'));
    const onMatch = resolveOnMatch(matcher.on_match ?? {}, rules, place.at('on_match'));
    const exclusive = matcher.exclusive ?? false;
    return onMatch === undefined ? [] : [{ ranges, onMatch, exclusive }];
  });
  return { kind: 'address', input, branches };
}
