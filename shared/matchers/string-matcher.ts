/** Compiles string matchers to predicates. Texts are byte strings. */
import { asciiLower } from '../text/ascii.ts';
import { makeRegexRunner } from '../regex/run-regex.ts';
import type { StringMatcher } from '../resources/routes/matchers.ts';

export type TextPredicate = (text: string) => boolean;

export function compileStringMatcher(matcher: StringMatcher): TextPredicate {
  if (matcher.kind === 'regex') {
    const runner = makeRegexRunner(matcher.regex);
    return (text) => runner.test(text);
  }
  const exact = plainPredicate(matcher.kind, matcher.value);
  return matcher.ignoreCase ? (text) => exact(asciiLower(text)) : exact;
}

function plainPredicate(
  kind: 'exact' | 'prefix' | 'suffix' | 'contains',
  value: string,
): TextPredicate {
  switch (kind) {
    case 'exact':
      return (text) => text === value;
    case 'prefix':
      return (text) => text.startsWith(value);
    case 'suffix':
      return (text) => text.endsWith(value);
    case 'contains':
      return (text) => text.includes(value);
  }
}
