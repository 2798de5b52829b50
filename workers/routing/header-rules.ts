/** Compiles lists of header rules, as the header_mutation filter and early mutations have them. */
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import type { HeaderMutationRule } from '../../shared/resources/filters/http/header-mutation.ts';
import { compileHeaderMutations, type HeaderMutation } from './header-mutations.ts';

/** Each rule is a set of its own, so that they take effect one after the other. */
export function compileHeaderRules(
  rules: readonly HeaderMutationRule[],
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  const steps = rules.map((rule) => compileRule(rule, joined)).filter((step) => step !== undefined);
  const [only] = steps;
  if (steps.length <= 1) return only;
  return (headers, info) => {
    for (const step of steps) step(headers, info);
  };
}

function compileRule(
  rule: HeaderMutationRule,
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  if (rule.kind === 'append') {
    return compileHeaderMutations([{ add: [rule.option], remove: [] }], joined);
  }
  if (rule.kind === 'remove') {
    return compileHeaderMutations([{ add: [], remove: [rule.name] }], joined);
  }
  const matches = compileStringMatcher(rule.matcher);
  return (headers) => {
    const names = new Set<string>();
    headers.forEach((name) => matches(name) && names.add(name));
    for (const name of names) headers.remove(name);
  };
}
