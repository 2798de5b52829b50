/** Resolves envoy.type.matcher.v3.StringMatcher. */
import type { StringMatcher as StringMatcherMessage } from '../../../shared/api/generated/envoy/type/matcher/v3/string.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { StringMatcher } from '../../../shared/resources/routes/matchers.ts';
import type { Scope } from '../scope.ts';
import { resolveRegex } from './regex.ts';

/** Undefined after a reported problem. */
export function resolveStringMatcher(
  message: StringMatcherMessage,
  scope: Scope,
): StringMatcher | undefined {
  const ignoreCase = message.ignore_case ?? false;
  if (message.safe_regex !== undefined) {
    if (ignoreCase) {
      scope.at('ignore_case').error('conflict', 'ignore_case has no effect for safe_regex.');
    }
    const regex = resolveRegex(message.safe_regex, scope.at('safe_regex'));
    return regex === undefined ? undefined : { kind: 'regex', regex };
  }
  if (message.custom !== undefined) {
    scope.at('custom').unsupported(`string matcher '${message.custom.name ?? ''}' is`);
    return undefined;
  }
  for (const kind of ['exact', 'prefix', 'suffix', 'contains'] as const) {
    const value = message[kind];
    if (value !== undefined) return textMatcher(kind, value, ignoreCase);
  }
  return undefined;
}

/** Folds case where it is ignored, as `StringMatcher` wants it. */
export function textMatcher(
  kind: 'exact' | 'prefix' | 'suffix' | 'contains',
  value: string,
  ignoreCase: boolean,
): StringMatcher {
  const bytes = toByteString(value);
  return { kind, value: ignoreCase ? asciiLower(bytes) : bytes, ignoreCase };
}

/** Lower case of ASCII letters only: other bytes are parts of UTF-8. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
