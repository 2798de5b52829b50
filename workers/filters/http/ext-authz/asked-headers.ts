/** Which of a request's headers an authorization service sees, and in what form. */
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import type { StringMatcher } from '../../../../shared/resources/routes/matchers.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { repairUtf8 } from '../../../tap/repair-utf8.ts';

/** Decides by a header's name in lower case. */
export type NamePredicate = (name: string) => boolean;

/** One of them is enough. */
export function matcherOf(matchers: readonly StringMatcher[]): NamePredicate {
  const compiled = matchers.map(compileStringMatcher);
  return (name) => compiled.some((matches) => matches(name));
}

/**
 * As they came, one by one, or each name once, with its values joined and made valid UTF-8. Pseudo
 * headers are not among them.
 */
export function visitAsked(
  headers: HeaderMap,
  isAsked: NamePredicate,
  isRaw: boolean,
  visit: (name: string, value: string) => void,
): void {
  if (isRaw) {
    headers.forEach((name, value) => {
      if (isAsked(name)) visit(name, value);
    });
    return;
  }
  const joined = new Map<string, string>();
  headers.forEach((name, value) => {
    if (!isAsked(name)) return;
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before},${value}`);
  });
  for (const [name, value] of joined) visit(name, repairUtf8(value, '!'));
}
